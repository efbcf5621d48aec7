//! The least that runs futures: one thread, which polls what was woken.

use std::future::Future;
use std::pin::Pin;
use std::sync::mpsc::{Receiver, Sender, channel};
use std::sync::{Arc, Mutex};
use std::task::{Context, Wake, Waker};
use std::thread;

/// How a command is carried out.
#[derive(Clone, Copy, PartialEq)]
pub enum Form {
    /// A thread waits for it.
    Blocking,
    /// A future is awaited.
    Awaited,
}

impl Form {
    /// The form of that name.
    pub fn from_name(name: &str) -> Form {
        if name == "awaited" { Form::Awaited } else { Form::Blocking }
    }
}

/// Runs futures on a thread of its own.
pub struct Executor {
    woken: Sender<Arc<Task>>,
}

struct Task {
    future: Mutex<Option<Pin<Box<dyn Future<Output = ()> + Send>>>>,
    woken: Sender<Arc<Task>>,
}

impl Wake for Task {
    fn wake(self: Arc<Self>) {
        // Without a receiver the process is about to end.
        let _ = self.woken.send(self.clone());
    }
}

impl Default for Executor {
    fn default() -> Executor {
        let (woken, tasks) = channel();
        thread::spawn(move || poll(&tasks));
        Executor { woken }
    }
}

fn poll(tasks: &Receiver<Arc<Task>>) {
    for task in tasks {
        let mut future = task.future.lock().expect("no future panics");
        if let Some(running) = future.as_mut() {
            let waker = Waker::from(task.clone());
            if running.as_mut().poll(&mut Context::from_waker(&waker)).is_ready() {
                *future = None;
            }
        }
    }
}

impl Executor {
    /// Runs the future; `done` gets what it gives.
    pub fn spawn<T: 'static>(
        &self,
        future: impl Future<Output = T> + Send + 'static,
        done: impl FnOnce(T) + Send + 'static,
    ) {
        let future = async move { done(future.await) };
        let task = Task { future: Mutex::new(Some(Box::pin(future))), woken: self.woken.clone() };
        Arc::new(task).wake();
    }

    /// Runs the future and waits for it.
    pub fn block_on<T: Send + 'static>(&self, future: impl Future<Output = T> + Send + 'static) -> T {
        let (sender, result) = channel();
        self.spawn(future, move |value| drop(sender.send(value)));
        result.recv().expect("the executor runs as long as the process")
    }
}
