#!/usr/bin/perl
# SPDX-License-Identifier: LGPL-2.1-or-later
# An agent that sends a file by e-mail, once a person has approved exactly that mail: over D-Bus
# alone, without the library, to show what one in any language has to do.
#
#   usage: send-report.pl TO FILE
#
# Run it as the agent's user.  It exits 0 where the mail was sent, 1 where it certainly was not, and
# 2 where nobody knows: then a person must find out, and it must not be run again.  It needs Net::DBus.

use strict;
use warnings;
use Fcntl;
use Net::DBus;
use Net::DBus::Binding::Iterator;
use Net::DBus::Binding::Message;
use Net::DBus::Binding::Message::MethodCall;
use POSIX ();

my ($NAME, $ROOT) = ('org.undersign1', '/org/undersign1');
my ($AGENT, $REQUEST) = ("$NAME.Agent", "$NAME.Request");
my $SUBMIT_MS = 90_000;
# <linux/fcntl.h> and <linux/memfd.h>; the number of memfd_create() is the machine's.
my ($F_ADD_SEALS, $SEAL, $SHRINK, $GROW, $WRITE) = (1033, 1, 2, 4, 8);
my ($MFD_CLOEXEC, $MFD_ALLOW_SEALING) = (1, 2);
my %MEMFD_CREATE = (x86_64 => 319, aarch64 => 279, riscv64 => 279, ppc64le => 360, s390x => 350);
my $bus = Net::DBus->system->get_connection;

# A copy of the file that nobody can change any more: the service takes no other descriptor.
sub sealed {
    my ($path) = @_;
    my $machine = (POSIX::uname())[4];
    my $number = $MEMFD_CREATE{$machine} or die "no number of memfd_create() for $machine\n";
    my $name = 'report';
    open my $from, '<:raw', $path or die "$path: $!\n";
    my $fd = syscall $number, $name, $MFD_CLOEXEC | $MFD_ALLOW_SEALING;
    die "memfd_create: $!\n" if $fd < 0;
    open my $to, '+<&=:raw', $fd or die "memfd: $!\n";
    local $/ = \65536;
    while (my $piece = <$from>) { print {$to} $piece or die "memfd: $!\n" }
    $to->flush or die "memfd: $!\n";
    fcntl $to, $F_ADD_SEALS, $SEAL | $SHRINK | $GROW | $WRITE or die "sealing: $!\n";
    return $to;
}

# One call; @fill writes its arguments.
sub call {
    my ($to, $path, $interface, $member, $timeout, $fill) = @_;
    my $call = Net::DBus::Binding::Message::MethodCall->new(
        service_name => $to, object_path => $path, interface => $interface, method_name => $member);
    $fill->($call->iterator(1)) if $fill;
    my @reply = $bus->send_with_reply_and_block($call, $timeout)->get_args_list;
    return @reply;
}

# The connection that owns the name now, after asking the bus whose it is.  Everything is sent to it
# and not to the name, so that whoever takes the name later gets nothing.
sub service {
    my @bus = ('org.freedesktop.DBus', '/org/freedesktop/DBus', 'org.freedesktop.DBus');
    call(@bus, 'StartServiceByName', 30_000,
        sub { $_[0]->append_string($NAME); $_[0]->append_uint32(0) });
    my ($owner) = call(@bus, 'GetNameOwner', 30_000, sub { $_[0]->append_string($NAME) });
    my ($uid) = call(@bus, 'GetConnectionUnixUser', 30_000, sub { $_[0]->append_string($owner) });
    my $wanted = getpwnam 'undersign';
    die "bad-peer: $NAME belongs to uid $uid\n" if !defined $wanted || $uid != $wanted;
    return $owner;
}

sub container {
    my ($iterator, $type, $signature, $fill) = @_;
    my $inner = $iterator->_open_container($type, $signature);
    $fill->($inner);
    $iterator->_close_container($inner);
}

# An entry of an a{sv}.
sub entry {
    my ($dictionary, $key, $signature, $fill) = @_;
    container($dictionary, ord 'e', '', sub {
        my ($pair) = @_;
        $pair->append_string($key);
        container($pair, ord 'v', $signature, $fill);
    });
}

sub text { my ($text) = @_; return sub { $_[0]->append_string($text) } }

sub submit {
    my ($owner, $run, $to, $path) = @_;
    my $file = sealed($path);
    my ($base) = $path =~ m{([^/]+)$};
    return call($owner, $ROOT, $AGENT, 'Submit', $SUBMIT_MS, sub {
        my ($body) = @_;
        $body->append_string($run);
        $body->append_string('mail.send');
        container($body, ord 'a', '{sv}', sub {
            my ($arguments) = @_;
            entry($arguments, 'to', 'as', sub { container($_[0], ord 'a', 's', text($to)) });
            entry($arguments, 'subject', 's', text('Report'));
            entry($arguments, 'body', 's', text('The report is attached.'));
            entry($arguments, 'attachment', 'a(sh)', sub {
                container($_[0], ord 'a', '(sh)', sub {
                    container($_[0], ord 'r', '', sub {
                        $_[0]->append_string($base);
                        $_[0]->append_unix_fd(fileno $file);
                    });
                });
            });
        });
        container($body, ord 'a', '{sv}', sub {
            entry($_[0], 'claim', 's', text('It is the end of the month.'));
        });
    });
}

# Looks each second until it has ended.  The service sends signals to who called Watch(), too.
sub outcome {
    my ($owner, $request) = @_;
    while (1) {
        my ($state, $details) = call($owner, $request, $REQUEST, 'GetState', 30_000);
        return ($state, $details) if $state !~ /^(?:pending|approved|executing)$/;
        sleep 1;
    }
}

if (@ARGV != 2) {
    print STDERR "usage: send-report.pl TO FILE\n";
    exit 1;
}
$| = 1;
my ($submitted, $ended) = (0, 0);
my $executed = 'no';
eval {
    my $owner = service();
    my ($run) = call($owner, $ROOT, $AGENT, 'OpenRun', 30_000, sub {
        container($_[0], ord 'a', '{sv}', sub { entry($_[0], 'label', 's', text('monthly-report')) });
    });
    $submitted = 1;
    my ($request, $state) = submit($owner, $run, @ARGV);
    print "$request: $state\n";
    ($state, my $details) = outcome($owner, $request);
    $ended = 1;
    $executed = $details->{executed};
    my $why = $details->{reason} || $details->{result};
    print "$state, executed: $executed", $why ? " ($why)" : '', "\n";
};
if (!$ended) {
    # An error of the service is "NAME: REASON: text"; of its refusals nothing is left.
    my $error = $@;
    my $refused = ref $error && $error->name =~ /^\Q$NAME\E\.Error\.(?!Unavailable$)/;
    print STDERR 'send-report.pl: ', ref $error ? $error->message : $error, "\n";
    exit($submitted && !$refused ? 2 : 1);
}
exit($executed eq 'yes' ? 0 : $executed eq 'no' ? 1 : 2);
