//! A foreign server as a process: started on a free port, waited for, ended, its output kept for a failure.
//!
//! A shell stands between: it ends the server when this process ends, whatever way it does.

use std::fs::{self, File};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::{Arc, Mutex, OnceLock};
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

    /// One process for all tests that leave it alone.
    pub fn shared(server: Server) -> Arc<Process> {
        static RUNNING: [OnceLock<Arc<Process>>; Server::COUNT] = [const { OnceLock::new() }; Server::COUNT];
        RUNNING[server as usize].get_or_init(|| Arc::new(Process::start(server))).clone()
    }

    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// Ends the process without a word to anyone.
    pub fn kill(&self) {
        let mut child = self.child.lock().unwrap();
        drop(child.stdin.take());
        child.wait().unwrap();
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

/// Kills the server when the shell's own input ends; says how the server has ended when it does so by itself.
const KEEPER: &str = r#"
"$@" </dev/null 3<&- & server=$!
(read -r _; kill -9 $server) <&3 2>/dev/null &
wait $server
echo "ended with status $?"
"#;

fn spawn(server: Server, address: SocketAddr, output: &Path) -> Child {
    let output = File::options().create(true).append(true).open(output).unwrap();
    let served = server.command(address.port());
    let mut command = Command::new("sh");
    command.arg("-c").arg(format!("exec 3<&0\n{KEEPER}")).arg("sh").arg(served.get_program()).args(served.get_args());
    command.envs(served.get_envs().filter_map(|(name, value)| Some((name, value?))));
    command.stdin(Stdio::piped()).stdout(output.try_clone().unwrap()).stderr(output);
    command.spawn().unwrap_or_else(|error| panic!("{server:?} does not start ({error}): `make test` installs it"))
}

/// A port that is free may be given to the very connection that looks for it, which then talks to itself.
fn listens(address: SocketAddr) -> bool {
    TcpStream::connect(address).is_ok_and(|found| found.local_addr().is_ok_and(|own| own != address))
}
