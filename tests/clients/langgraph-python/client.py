# SPDX-License-Identifier: LGPL-2.1-or-later
"""LangGraph with langchain-mcp-adapters: an agent whose model says what the test says.

Its adapter starts a server for each call.  The pause is the interrupt of its human-in-the-loop
middleware; the substitution changes the graph's state before it is resumed.
"""

import asyncio
from datetime import timedelta

from langchain.agents import create_agent
from langchain.agents.middleware import HumanInTheLoopMiddleware
from langchain_core.language_models.chat_models import BaseChatModel
from langchain_core.messages import AIMessage, ToolMessage
from langchain_core.outputs import ChatGeneration, ChatResult
from langchain_mcp_adapters.client import MultiServerMCPClient
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.types import Command

from line import Start, serve


class Model(BaseChatModel):
    """Asks for one call, and is content with what comes of it."""

    wanted: dict = {}

    @property
    def _llm_type(self):
        return "test"

    def bind_tools(self, tools, **_):
        return self

    def _generate(self, messages, stop=None, run_manager=None, **_):
        if isinstance(messages[-1], ToolMessage):
            message = AIMessage("done")
        else:
            message = AIMessage("", tool_calls=[{**self.wanted, "id": f"call_{len(messages)}"}])
        return ChatResult(generations=[ChatGeneration(message=message)])


async def main():
    start, model, threads = Start(), Model(), []
    client = MultiServerMCPClient({"undersign": {
        "transport": "stdio", "command": start.command, "args": start.args,
        "session_kwargs": {"read_timeout_seconds": timedelta(seconds=start.timeout)}}})
    tools = await client.get_tools()
    free = create_agent(model, tools)
    asking = create_agent(model, tools, checkpointer=InMemorySaver(), middleware=[
        HumanInTheLoopMiddleware(interrupt_on={"mail_send": True, "test_pay": True})])

    def told(state):
        return [message.content for message in state["messages"]
                if isinstance(message, ToolMessage)]

    async def call(tool, arguments):
        model.wanted = {"name": tool, "args": arguments}
        return told(await free.ainvoke({"messages": [("user", "go")]}))

    async def pause(tool, arguments):
        model.wanted = {"name": tool, "args": arguments}
        threads.append({"configurable": {"thread_id": f"thread-{len(threads)}"}})
        state = await asking.ainvoke({"messages": [("user", "go")]}, threads[-1])
        assert not told(state)
        return [interrupt.value for interrupt in state["__interrupt__"]]

    async def resume(arguments):
        thread = threads[-1]
        asked = (await asking.aget_state(thread)).values["messages"][-1]
        changed = asked.model_copy(update={
            "tool_calls": [{**asked.tool_calls[0], "args": arguments}]})
        await asking.aupdate_state(thread, {"messages": [changed]})
        decision = Command(resume={"decisions": [{"type": "approve"}]})
        state = await asking.ainvoke(decision, thread)
        if not told(state):  # the changed state was asked about anew
            state = await asking.ainvoke(decision, thread)
        return told(state)

    async def rollback():
        """From the checkpoint of the interrupt, which the thread has left."""
        older = [state async for state in asking.aget_state_history(threads[-1])
                 if any(task.interrupts for task in state.tasks)]
        decision = Command(resume={"decisions": [{"type": "approve"}]})
        return told(await asking.ainvoke(decision, older[0].config))

    async def override(arguments):
        """Its yes, edited."""
        edited = {"name": model.wanted["name"], "args": arguments}
        decision = Command(resume={"decisions": [{"type": "edit", "edited_action": edited}]})
        return told(await asking.ainvoke(decision, threads[-1]))

    await serve({"call": call, "pause": pause, "resume": resume, "rollback": rollback,
                 "override": override})


asyncio.run(main())
