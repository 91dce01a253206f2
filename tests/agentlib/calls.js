#!/usr/bin/gjs
// SPDX-License-Identifier: LGPL-2.1-or-later
// Calls each function of the library, as JavaScript has it, in its blocking form and in the other.
//
//   usage: calls.js start LABEL AGENT      what who starts an agent calls
//          calls.js ask LABEL FILE ACTION  what the agent calls
//
// Each line is JSON: a call and what either form gave, a refusal's text if it was one; last, all functions
// that were called.  calls.py does the same, and tests/system/test-library.py says what must come of it.

imports.gi.versions.Undersign = '1';
const {GLib, Undersign} = imports.gi;

const called = new Set();
const getters = Object.getOwnPropertyNames(Undersign.Status.prototype)
    .filter(name => name.startsWith('get_'));

function use(owner, kind, name) {
    called.add(`${kind}.${name}`);
    return owner[name].bind(owner);
}

const client = use(Undersign.Client, 'Client', 'new')();

function plain(value) {
    if (value instanceof GLib.Variant)
        return value.recursiveUnpack();
    if (Array.isArray(value))
        return [value[0], Undersign.state_to_string(value[1])];
    if (!(value instanceof Undersign.Status))
        return value;
    const found = Object.fromEntries(getters.map(name => [name, use(value, 'Status', name)()]));
    found.get_state = Undersign.state_to_string(found.get_state);
    found.get_executed = Undersign.executed_to_string(found.get_executed);
    return found;
}

// What it gave, or why it was refused.
function outcome(call, ...words) {
    try {
        return plain(call(...words));
    } catch (error) {
        if (!(error instanceof GLib.Error) || error.domain !== Undersign.error_quark())
            throw error;
        return error.message;
    }
}

function later(name, words) {
    const loop = GLib.MainLoop.new(null, false);
    let found;
    use(client, 'Client', `${name}_async`)(...words, null, (source, result) => {
        try {
            found = outcome(use(source, 'Client', `${name}_finish`), result);
        } finally {
            loop.quit();
        }
    });
    loop.run();
    return found;
}

// The words are for the blocking form, the others for the other.
function both(name, words = [], others = words) {
    const found = [outcome(use(client, 'Client', name), ...words, null), later(name, others)];
    print(JSON.stringify([name, ...found]));
    return found;
}

function submission(action, path, key = null, superseded = null) {
    const made = use(Undersign.Submission, 'Submission', 'new')(action);
    const call = (name, ...words) => use(made, 'Submission', name)(...words);
    call('add_string', 'target', 'söme target');
    call('add_boolean', 'quiet', true);
    call('add_strings', 'names', ['name-one', 'name-two']);
    call('add_file', 'letter', path);
    call('add_files', 'paper', [path]);
    call('set_claim', null);
    call('set_claim', 'It is due.');
    call('set_idempotency_key', key);
    call('set_supersedes', superseded);
    return made;
}

function ask(label, path, action) {
    both('get_info');
    both('list_actions');
    both('describe_action', [action]);
    both('open_run', [label, null]);
    const runs = both('open_run', [null, null], [null, 'licences']);
    const submit = (keys = [], superseded = []) =>
        both('submit', ...runs.map((run, i) => [run, submission(action, path, keys[i], superseded[i])]))
            .map(found => [found[0]]);

    const first = submit([`${label}-1`, `${label}-2`]);
    both('get_state', ...first);
    both('wait', ...first.map(([request]) => [request, 0]));
    const second = submit([], first.map(([request]) => request));
    both('get_state', ...first);
    both('withdraw', ...second);
    both('withdraw', ...second);
    both('withdraw', ...first);
    both('wait', ...second.map(([request]) => [request, -1]));
    const third = submit();
    both('leave', ...third);
    both('get_state', ...third);
    submit();
    both('close_run', ...runs.map(run => [run]));
    submit();
    both('list_requests');
}

function main(verb, label, ...words) {
    if (verb === 'start')
        both('open_run_for', [...words, label, null]);
    else
        ask(label, ...words);
    print(JSON.stringify(['called', ...called]));
}

main(...ARGV);
