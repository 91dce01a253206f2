#!/usr/bin/gjs
// SPDX-License-Identifier: LGPL-2.1-or-later
// An agent that sends a file by e-mail, once a person has approved exactly that mail.  Nothing here
// blocks: each call is a promise.
//
//   usage: send-report.js TO FILE
//
// Run it as the agent's user.  It exits 0 where the mail was sent, 1 where it certainly was not, and
// 2 where nobody knows: then a person must find out, and it must not be run again.  It needs gjs.

imports.gi.versions.Undersign = '1';
const {Gio, GLib, Undersign} = imports.gi;
const System = imports.system;

for (const call of ['open_run', 'submit', 'wait'])
    Gio._promisify(Undersign.Client.prototype, `${call}_async`, `${call}_finish`);

// The file is copied here: what becomes of it later changes nothing.
function reportMail(to, path) {
    const mail = Undersign.Submission.new('mail.send');
    mail.add_strings('to', [to]);
    mail.add_string('subject', 'Report');
    mail.add_string('body', 'The report is attached.');
    mail.add_files('attachment', [path]);
    mail.set_claim('It is the end of the month.');
    return mail;
}

async function ask(client, mail) {
    const run = await client.open_run_async('monthly-report', null, null);
    const [request, state] = await client.submit_async(run, mail, null);
    print(`${request}: ${Undersign.state_to_string(state)}`);
    return client.wait_async(request, -1, null);
}

function report(status) {
    const executed = status.get_executed();
    const why = status.get_reason() || status.get_result();

    print(`${Undersign.state_to_string(status.get_state())}, executed: ` +
        `${Undersign.executed_to_string(executed)}${why ? ` (${why})` : ''}`);
    if (executed === Undersign.Executed.YES)
        return 0;
    return executed === Undersign.Executed.NO ? 1 : 2;
}

async function main(to, path) {
    try {
        return report(await ask(Undersign.Client.new(), reportMail(to, path)));
    } catch (error) {
        printerr(`send-report.js: ${error.message}`);
        // Policy's refusals leave nothing behind; a service that cannot be reached may have taken it.
        return error instanceof GLib.Error &&
            !error.matches(Undersign.Error, Undersign.Error.UNAVAILABLE) ? 1 : 2;
    }
}

if (ARGV.length !== 2) {
    printerr('usage: send-report.js TO FILE');
    System.exit(1);
}
const loop = GLib.MainLoop.new(null, false);
let exitStatus = 2;
main(...ARGV).then(status => {
    exitStatus = status;
    loop.quit();
});
loop.run();
System.exit(exitStatus);
