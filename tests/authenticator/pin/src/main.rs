// SPDX-License-Identifier: LGPL-2.1-or-later
//! A security key with a PIN for the tests: the FIDO application of Trussed, which is the firmware
//! of real keys, in a process of its own.  Nothing of CTAP2 is decided here: this file is the USB
//! cable, the button and the drawer where the key was provisioned.
//!
//! usage: undersign-test-authenticator STATE CERTIFICATE KEY BUTTON
//!
//! STATE is the flash, a file that outlives the process.  CERTIFICATE (DER) and KEY (32 bytes, the
//! scalar) attest it.  BUTTON is a file: a finger is on the key while it says "touch".  HID reports
//! come on standard input, each with its report number before it, and go to standard output.

use std::{
    env, fs,
    io::{self, Read, Write},
    process,
    sync::{mpsc, Mutex},
    thread,
    time::{Duration, Instant},
};

use ctaphid_app::{App, Command, Error};
use fido_authenticator::{Authenticator, Config, Conforming, FirmwareVersion};
use heapless_bytes::Bytes;
use littlefs2_core::path;
use rand_core::RngCore as _;
use trussed::{
    backend::BackendId,
    pipe::{ServiceEndpoint, TrussedChannel},
    platform::{Platform as _, Syscall, UserInterface},
    service::Service,
    store::Store as _,
    types::ui::Status,
    virt::{self, StorageConfig, StoreConfig},
    ClientImplementation,
};
use trussed_core::{
    types::{consent::Level, reboot::To},
    InterruptFlag,
};
use trussed_staging::virt::{BackendIds, Dispatcher};

const REPORT: usize = 64;
const FIRST: usize = REPORT - 7;
const NEXT: usize = REPORT - 5;
const MESSAGE: usize = 3072;
const KEEPALIVE: Duration = Duration::from_millis(100);

const PING: u8 = 0x01;
const INIT: u8 = 0x06;
const CBOR: u8 = 0x10;
const CANCEL: u8 = 0x11;
const KEEPALIVE_REPLY: u8 = 0x3b;
const ERROR: u8 = 0x3f;
const CAPABILITIES: u8 = 0x0c; // CBOR, and no messages of U2F

static INTERRUPT: InterruptFlag = InterruptFlag::new();
static OUTPUT: Mutex<()> = Mutex::new(());

/// The button.  The firmware polls it, here at a human pace.
struct Button(String);

impl UserInterface for Button {
    fn check_user_presence(&mut self) -> Level {
        match fs::read_to_string(&self.0) {
            Ok(text) if text.trim() == "touch" => Level::Normal,
            _ => Level::None,
        }
    }
    fn set_status(&mut self, _status: Status) {}
    fn refresh(&mut self) {
        thread::sleep(Duration::from_millis(5));
    }
    fn uptime(&mut self) -> Duration {
        unreachable!("asked of the platform");
    }
    fn reboot(&mut self, _to: To) -> ! {
        process::exit(0);
    }
    fn wink(&mut self, _duration: Duration) {}
}

struct Bell(mpsc::Sender<()>);

impl Syscall for Bell {
    fn syscall(&mut self) {
        let _ = self.0.send(());
    }
}

fn send(channel: u32, command: u8, payload: &[u8]) {
    let _whole = OUTPUT.lock().unwrap();
    let mut out = io::stdout();
    let mut report = [0u8; REPORT];
    report[..4].copy_from_slice(&channel.to_be_bytes());
    report[4] = command | 0x80;
    report[5..7].copy_from_slice(&(payload.len() as u16).to_be_bytes());
    let (first, rest) = payload.split_at(payload.len().min(FIRST));
    report[7..7 + first.len()].copy_from_slice(first);
    let mut write = |report: &[u8]| {
        if out.write_all(report).and_then(|()| out.flush()).is_err() {
            process::exit(0); // unplugged
        }
    };
    write(&report);
    for (sequence, part) in rest.chunks(NEXT).enumerate() {
        let mut report = [0u8; REPORT];
        report[..4].copy_from_slice(&channel.to_be_bytes());
        report[4] = sequence as u8;
        report[5..5 + part.len()].copy_from_slice(part);
        write(&report);
    }
}

/// One message, put together from its reports; a cancellation acts at once and is none.
fn receive() -> (u32, u8, Vec<u8>) {
    let mut channel = 0;
    let mut command = 0;
    let mut wanted = 0;
    let mut message = Vec::new();
    loop {
        let mut numbered = [0u8; 1 + REPORT];
        if io::stdin().read_exact(&mut numbered).is_err() {
            process::exit(0);
        }
        let report = &numbered[1..];
        if report[4] & 0x80 == 0 {
            message.extend_from_slice(&report[5..]);
        } else if report[4] & 0x7f == CANCEL {
            INTERRUPT.interrupt();
            continue;
        } else {
            channel = u32::from_be_bytes(report[..4].try_into().unwrap());
            command = report[4] & 0x7f;
            wanted = u16::from_be_bytes(report[5..7].try_into().unwrap()) as usize;
            message = report[7..].to_vec();
        }
        if message.len() >= wanted {
            message.truncate(wanted);
            return (channel, command, message);
        }
    }
}

/// The firmware of a key that is at work tells so ten times a second.
fn working<R: Send>(channel: u32, work: impl FnOnce() -> R) -> R {
    let (done, waiting) = mpsc::channel();
    thread::scope(|scope| {
        scope.spawn(move || {
            let begun = Instant::now();
            while waiting.recv_timeout(KEEPALIVE) == Err(mpsc::RecvTimeoutError::Timeout) {
                let touch = begun.elapsed() > 2 * KEEPALIVE;
                send(channel, KEEPALIVE_REPLY, &[if touch { 2 } else { 1 }]);
            }
        });
        let result = work();
        let _ = done.send(());
        result
    })
}

fn serve<A: App<'static> + Send>(authenticator: &mut A, messages: mpsc::Receiver<(u32, u8, Vec<u8>)>) {
    let mut channels = 0;
    for (channel, command, message) in messages {
        match command {
            INIT if message.len() == 8 => {
                channels += 1;
                let mut reply = message;
                reply.extend_from_slice(&u32::to_be_bytes(channels));
                reply.extend_from_slice(&[2, 0, 0, 0, CAPABILITIES]);
                send(channel, INIT, &reply);
            }
            PING => send(channel, PING, &message),
            CBOR => {
                let mut reply = Bytes::<MESSAGE>::new();
                INTERRUPT.set_working();
                let done = working(channel, || {
                    authenticator.call(Command::Cbor, &message, &mut reply)
                });
                INTERRUPT.set_idle();
                match done {
                    Ok(()) | Err(Error::NoResponse) => send(channel, CBOR, &reply),
                    Err(_) => send(channel, ERROR, &[1]),
                }
            }
            _ => send(channel, ERROR, &[1]),
        }
    }
}

fn main() {
    let arguments: Vec<String> = env::args().skip(1).collect();
    let [state, certificate, key, button] = &arguments[..] else {
        eprintln!("usage: undersign-test-authenticator STATE CERTIFICATE KEY BUTTON");
        process::exit(2);
    };
    let store = StoreConfig {
        internal: StorageConfig::filesystem(state.into()),
        external: StorageConfig::ram(),
        volatile: StorageConfig::ram(),
    };
    virt::with_platform(store, |mut platform| {
        platform.user_interface().set_inner(Box::new(Button(button.clone())));
        // the random numbers of virt are the same in every process: go on from where nobody was
        let mut skip = [0u8; 2];
        fs::File::open("/dev/urandom").unwrap().read_exact(&mut skip).unwrap();
        for _ in 0..u16::from_be_bytes(skip) {
            platform.rng().next_u64();
        }
        provision(&platform.store(), certificate, key);
        run(platform);
    });
}

fn provision(store: &virt::Store, certificate: &str, key: &str) {
    let flash = store.ifs();
    // Trussed's form of a key: flags, kind (5 is P-256), scalar
    let scalar = fs::read(key).unwrap();
    let stored = [&[0x00, 0x02, 0x00, 0x05], &scalar[..]].concat();
    for folder in [path!("fido/x5c"), path!("fido/sec")] {
        flash.create_dir_all(folder).unwrap();
    }
    flash.write(path!("fido/x5c/00"), &fs::read(certificate).unwrap()).unwrap();
    flash.write(path!("fido/sec/00"), &stored).unwrap();
}

fn run(platform: virt::Platform) {
    const BACKENDS: &[BackendId<BackendIds>] =
        &[BackendId::Custom(BackendIds::StagingBackend), BackendId::Core];
    let link = TrussedChannel::new();
    let (requester, responder) = link.split().unwrap();
    let (bell, rung) = mpsc::channel();
    let context =
        trussed::types::CoreContext::with_interrupt(path!("fido").into(), Some(&INTERRUPT));
    let client: ClientImplementation<'_, Bell, Dispatcher> =
        ClientImplementation::new(requester, Bell(bell), Some(&INTERRUPT));
    let mut service = Service::with_dispatch(platform, Dispatcher::default());
    let mut endpoints = [ServiceEndpoint::new(responder, context, BACKENDS)];

    let mut config = Config::new(MESSAGE);
    config.firmware_version = Some(FirmwareVersion::new(1));
    config.fido2_up_timeout = env::var("TOUCH_TIMEOUT_MS").ok().map(|text| text.parse().unwrap());

    let (post, messages) = mpsc::channel();
    thread::scope(|scope| {
        scope.spawn(move || {
            while rung.recv().is_ok() {
                service.process(&mut endpoints);
            }
        });
        scope.spawn(move || loop {
            post.send(receive()).unwrap();
        });
        let mut authenticator = Authenticator::new(client, Conforming {}, config);
        serve(&mut authenticator, messages);
    });
}
