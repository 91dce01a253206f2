# SPDX-License-Identifier: LGPL-2.1-or-later
"""A call as a task, in the two shapes that the protocol has had."""

import json

from driver import Told
from steps import Steps
from undersign_test import world

# Who has tasks, and of these who waits for one by itself, and who can ask for a list of them.
TASKS = {"task": ("fastmcp", "mcp-typescript"), "task_waited": ("fastmcp",),
         "task_list": ("mcp-typescript",)}


class Tasks(Steps):
    def task(self, client, wanted, before):
        """(what the client gave of the task, the request that it is)"""
        cards = set(self.scene.cards())
        task = client.do("task", tool="mail_send", arguments=wanted)["said"]
        assert task["status"] == "working", task
        request, = set(self.scene.cards()) - cards
        assert task["taskId"] == request, (task, request)
        self.effects_are(before)
        return task, request

    def test_task_an_approved_one_runs(self):
        before = self.scene.effects()
        with self.client("task") as client:
            wanted = self.mail("task")
            _, request = self.task(client, wanted, before)
            client.send("task_result")
            assert client.answer(3) is None, "it did not wait for the person"
            self.approve(request, "security@example.com", wanted["subject"], "report.pdf")
            self.told(Told(client.answer()), "done", "yes")
        assert self.scene.cards() == []
        self.effects_are(before, [(wanted["subject"], "security@example.com", ["the report"])])

    def test_task_a_denied_one_says_so(self):
        before = self.scene.effects()
        with self.client("task") as client:
            task, request = self.task(client, self.mail("denied task"), before)
            self.deny(request)
            told = Told(client.do("task_take", task=task))
            self.told(told, "denied", "no")
            assert told.reason == "wrong-target", told
        self.effects_are(before)

    def test_task_a_cancelled_one_is_withdrawn(self):
        before = self.scene.effects()
        with self.client("task") as client:
            task, request = self.task(client, self.mail("cancelled task"), before)
            client.do("task_cancel", task=task)
            assert self.scene.cards() == []
            assert client.do("task_get", task=task)["said"]["status"] == "cancelled"
            self.told(self.ended(client, request), "withdrawn", "no")
        self.effects_are(before)

    def test_task_outlive_the_client(self):
        """Its server and the client itself are others when the person answers, and it runs once."""
        before = self.scene.effects()
        wanted = self.mail("long task")
        with self.client("task") as client:
            task, request = self.task(client, wanted, before)
        assert self.scene.cards() == [request]
        with self.client("task") as client:
            assert client.do("task_get", task=task)["said"]["status"] == "working"
            self.approve(request, wanted["subject"])
            self.told(Told(client.do("task_take", task=task)), "done", "yes")
            self.told(Told(client.do("task_take", task=task)), "done", "yes")
        assert self.scene.cards() == []
        self.effects_are(before, [(wanted["subject"], "security@example.com", ["the report"])])

    def test_task_waited_for_is_told(self):
        """Where the framework waits for tasks by itself, whoever calls hears how it ended."""
        before = self.scene.effects()
        wanted = self.mail("waited")
        with self.client("task") as client:
            client.send("task_waited", tool="mail_send", arguments=wanted)
            world.wait_until(self.scene.cards, "there is a card")
            request, = self.scene.cards()
            assert client.answer(3) is None, "it did not wait for the person"
            self.approve(request, wanted["subject"])
            self.told(Told(client.answer()), "done", "yes")
        self.effects_are(before, [(wanted["subject"], "security@example.com", ["the report"])])

    def test_task_list_is_refused(self):
        before = self.scene.effects()
        with self.client("task") as client:
            _, request = self.task(client, self.mail("listed task"), before)
            answer = client.do("task_list")
            assert "said" not in answer and request not in json.dumps(answer), answer
            self.take_back(client, request)
        self.effects_are(before)
