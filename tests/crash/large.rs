//! A journal that is larger than 32 bits can count.

use std::fs;

use verifi::{JournalSync, Run, RunOptions, verify_journal};

use crate::common::{Folder, manifest, with_journal};

// Rules 4.4, 4.5.
#[test]
#[ignore = "writes more than 4 GiB: `make crash`"]
fn a_journal_of_more_than_four_gibibytes_goes_on() {
    let folder = Folder::new();
    let path = folder.path("run.jsonl");
    let open = || {
        let options = RunOptions { sync: JournalSync::None, ..with_journal(&path) };
        Run::open(&manifest("r1", "http://127.0.0.1:1"), options).unwrap()
    };
    let (line, lines) = ("x".repeat(8 << 10), 530_000);
    let run = open();
    (0..lines).for_each(|_| run.log(&line));
    run.close();
    assert!(fs::metadata(&path).unwrap().len() > 4 << 30);
    let run = open();
    run.log("after the mark");
    assert_eq!(run.events().last().unwrap().seq, lines + 4);
    run.close();
    let verification = verify_journal(&path).unwrap();
    assert_eq!((verification.ok, verification.events), (true, lines + 5), "{verification:?}");
}
