//! All scenarios, a few at a time, and the report.

use std::collections::VecDeque;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::{Mutex, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use super::compare::{compare, dump};
use super::driver::Driver;
use super::run::{Outcome, run};
use super::scenario::{Scenario, load};
use super::vectors;

/// How calls are made.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Form {
    /// The thread that calls waits.
    Blocking,
    /// The call is started and awaited.
    Awaited,
}

impl Form {
    /// Its name in commands to a driver.
    pub fn name(self) -> &'static str {
        match self {
            Form::Blocking => "blocking",
            Form::Awaited => "awaited",
        }
    }
}

/// What to run, and how.
#[derive(Clone, Debug)]
pub struct Suite {
    /// The driver's program and its arguments.
    pub driver: Vec<String>,
    /// Only scenarios whose title has this in it.
    pub filter: Option<String>,
    /// The forms to run each scenario in.
    pub forms: Vec<Form>,
    /// How many run at once.
    pub jobs: usize,
    /// Where to write what was seen.
    pub dump: Option<PathBuf>,
    /// Where the vectors are.
    pub vectors: PathBuf,
}

impl Suite {
    /// Everything, with the given driver.
    pub fn new(driver: Vec<String>) -> Suite {
        let vectors = Path::new(env!("CARGO_MANIFEST_DIR")).join("vectors");
        Suite { driver, filter: None, forms: vec![Form::Blocking, Form::Awaited], jobs: 6, dump: None, vectors }
    }

    /// The scenarios that the filter lets pass.
    pub fn scenarios(&self) -> Result<Vec<Scenario>, String> {
        let mut all = vectors::scenarios(&self.vectors)?;
        all.extend(load(&self.vectors.join("scenarios"))?);
        all.retain(|scenario| self.filter.as_ref().is_none_or(|filter| scenario.title.contains(filter)));
        Ok(all)
    }

    /// Runs everything and reports each by name; true when nothing failed.
    pub fn run(&self) -> Result<bool, String> {
        let scenarios = self.scenarios()?;
        let mut tally = Tally::default();
        for &form in &self.forms {
            let fits = |scenario: &&Scenario| scenario.plan.form.as_deref().is_none_or(|only| only == form.name());
            let (alone, together) = scenarios.iter().filter(fits).partition(|scenario| scenario.plan.alone);
            self.run_queue(together, form, self.jobs, &mut tally);
            self.run_queue(alone, form, 1, &mut tally);
        }
        tally.report();
        Ok(tally.failed == 0)
    }

    fn run_queue(&self, scenarios: VecDeque<&Scenario>, form: Form, jobs: usize, tally: &mut Tally) {
        let queue = Mutex::new(scenarios);
        let tally = Mutex::new(tally);
        thread::scope(|scope| {
            for _ in 0..jobs {
                scope.spawn(|| self.work(&queue, form, &tally));
            }
        });
    }

    fn work(&self, queue: &Mutex<VecDeque<&Scenario>>, form: Form, tally: &Mutex<&mut Tally>) {
        let mut shared = None;
        loop {
            let next = queue.lock().unwrap_or_else(PoisonError::into_inner).pop_front();
            let Some(scenario) = next else { break };
            let title = format!("{} ({})", scenario.title, form.name());
            let begin = Instant::now();
            let outcome = run(scenario, &self.driver, form, &mut shared);
            let time = begin.elapsed();
            let outcome = if scenario.plan.chance { outcome } else { self.dumped(&title, outcome) };
            tally.lock().unwrap_or_else(PoisonError::into_inner).add(&title, outcome, time);
        }
        if let Some(Err(what)) = shared.map(Driver::end) {
            let outcome = Outcome::Failed(what);
            tally.lock().unwrap_or_else(PoisonError::into_inner).add(
                "the end of a shared driver",
                outcome,
                Duration::ZERO,
            );
        }
    }

    fn dumped(&self, title: &str, outcome: Outcome) -> Outcome {
        match (&self.dump, outcome) {
            (Some(directory), Outcome::Passed(seen)) => match dump(directory, title, &seen) {
                Ok(()) => Outcome::Passed(seen),
                Err(what) => Outcome::Failed(format!("dump: {what}")),
            },
            (_, outcome) => outcome,
        }
    }
}

#[derive(Default)]
struct Tally {
    passed: usize,
    failed: usize,
    skipped: usize,
    failures: Vec<String>,
}

impl Tally {
    fn add(&mut self, title: &str, outcome: Outcome, time: Duration) {
        match outcome {
            Outcome::Passed(_) => {
                self.passed += 1;
                println!("{title} ... ok, {} ms", time.as_millis());
            }
            Outcome::Skipped(command) => {
                self.skipped += 1;
                println!("{title} ... skipped: the driver has no {command}");
            }
            Outcome::Failed(what) => {
                self.failed += 1;
                println!("{title} ... FAILED, {} ms: {}", time.as_millis(), first_line(&what));
                self.failures.push(format!("---- {title}\n{what}"));
            }
        }
    }

    fn report(&self) {
        self.failures.iter().for_each(|failure| println!("\n{failure}"));
        println!("\nscenarios: {} passed, {} failed, {} skipped", self.passed, self.failed, self.skipped);
    }
}

fn first_line(what: &str) -> String {
    what.lines().next().unwrap_or_default().chars().take(300).collect()
}

/// The program: `--driver 'CMD ARGS' [--filter X] [--form blocking|awaited] [--jobs N] [--dump DIR] [--list]`, or
/// `--compare DIR DIR`. Without `--driver`, `suite` says which.
pub fn main(mut suite: Suite, arguments: impl Iterator<Item = String>) -> ExitCode {
    let done = Task::parse(&mut suite, arguments).and_then(|task| task.perform(&suite));
    match done {
        Ok(true) => ExitCode::SUCCESS,
        Ok(false) => ExitCode::FAILURE,
        Err(what) => {
            eprintln!("scenarios: {what}");
            ExitCode::from(2)
        }
    }
}

enum Task {
    Run,
    List,
    Compare(PathBuf, PathBuf),
}

impl Task {
    fn parse(suite: &mut Suite, mut arguments: impl Iterator<Item = String>) -> Result<Task, String> {
        let mut task = Task::Run;
        while let Some(argument) = arguments.next() {
            let mut value = || arguments.next().ok_or_else(|| format!("{argument}: a value is missing"));
            match argument.as_str() {
                "--driver" => suite.driver = value()?.split_whitespace().map(str::to_owned).collect(),
                "--filter" => suite.filter = Some(value()?),
                "--jobs" => suite.jobs = value()?.parse().map_err(|_| "--jobs: not a number".to_owned())?,
                "--dump" => suite.dump = Some(value()?.into()),
                "--form" => {
                    suite.forms.retain({
                        let only = value()?;
                        move |form| form.name() == only
                    });
                }
                "--list" => task = Task::List,
                "--compare" => task = Task::Compare(value()?.into(), value()?.into()),
                flag if flag.starts_with('-') => return Err(format!("{flag}: no such option")),
                filter => suite.filter = Some(filter.to_owned()),
            }
        }
        Ok(task)
    }

    fn perform(&self, suite: &Suite) -> Result<bool, String> {
        match self {
            Task::Run => suite.run(),
            Task::List => {
                suite.scenarios()?.iter().for_each(|scenario| println!("{}", scenario.title));
                Ok(true)
            }
            Task::Compare(one, other) => {
                let (count, differences) = compare(one, other)?;
                differences.iter().for_each(|difference| println!("{difference}"));
                println!("{count} compared, {} differ", differences.len());
                Ok(differences.is_empty() && count > 0)
            }
        }
    }
}
