//! A foreign server as a process: started on a free port, waited for, ended, its output kept for a failure.

use std::fs::{self, File};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::path::{Path, PathBuf};
use std::process::{Child, Stdio};
use std::sync::{Arc, Mutex, PoisonError, Weak};
use std::thread;
use std::time::{Duration, Instant};

use crate::servers::Server;

pub struct Process {
    server: Server,
    address: SocketAddr,
    child: Mutex<Child>,
    output: PathBuf,
}

impl Process {
    pub fn start(server: Server) -> Process {
        let address = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap();
        let name = format!("{server:?}-{}.log", address.port());
        let output = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join(name);
        let child = Mutex::new(spawn(server, address, &output));
        let process = Process { server, address, child, output };
        process.wait_until_it_listens();
        process
    }

    /// One process for the tests that leave it alone. It ends with the last of those that run at the time.
    pub fn shared(server: Server) -> Arc<Process> {
        static RUNNING: [Mutex<Weak<Process>>; 2] = [Mutex::new(Weak::new()), Mutex::new(Weak::new())];
        let mut running = RUNNING[server as usize].lock().unwrap_or_else(PoisonError::into_inner);
        running.upgrade().unwrap_or_else(|| {
            let process = Arc::new(Process::start(server));
            *running = Arc::downgrade(&process);
            process
        })
    }

    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// Ends the process without a word to anyone.
    pub fn kill(&self) {
        let mut child = self.child.lock().unwrap();
        // Neither can fail but for a process that has ended already.
        let _ = child.kill();
        let _ = child.wait();
    }

    /// Starts it again where it was, with nothing of what it knew.
    pub fn start_again(&self) {
        self.kill();
        *self.child.lock().unwrap() = spawn(self.server, self.address, &self.output);
        self.wait_until_it_listens();
    }

    /// What it has written so far.
    pub fn output(&self) -> String {
        let text = fs::read_to_string(&self.output).unwrap_or_else(|error| error.to_string());
        format!("{:?} said:\n{text}", self.server)
    }

    fn wait_until_it_listens(&self) {
        let begun = Instant::now();
        while !listens(self.address) {
            let ended = self.child.lock().unwrap().try_wait().unwrap();
            let waited = begun.elapsed();
            if ended.is_some() || waited > Duration::from_secs(60) {
                panic!("not up after {waited:?} ({ended:?}); `make test` installs what it needs\n{}", self.output());
            }
            // No event tells that another process listens now.
            thread::sleep(Duration::from_millis(20));
        }
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        self.kill();
        let _ = fs::remove_file(&self.output);
    }
}

fn spawn(server: Server, address: SocketAddr, output: &Path) -> Child {
    let output = File::options().create(true).append(true).open(output).unwrap();
    let mut command = server.command(address.port());
    command.stdin(Stdio::null()).stdout(output.try_clone().unwrap()).stderr(output);
    command.spawn().unwrap_or_else(|error| panic!("{server:?} does not start ({error}): `make test` installs it"))
}

/// A port that is free may be given to the very connection that looks for it, which then talks to itself.
fn listens(address: SocketAddr) -> bool {
    TcpStream::connect(address).is_ok_and(|found| found.local_addr().is_ok_and(|own| own != address))
}
