//! verifi against servers that we did not write: each scenario runs against each of them.

mod asks;
mod ends;
mod process;
mod relay;
mod scenarios;
mod sent;
mod servers;
mod setting;
mod target;

use servers::Server;
use target::Target;

macro_rules! against {
    ($($module:ident: $target:expr),* => $scenarios:tt) => { $(
        mod $module {
            use super::*;
            against!(@tests $target, $scenarios);
        }
    )* };
    (@tests $target:expr, [$($file:ident::$scenario:ident),* $(,)?]) => { $(
        #[test]
        fn $scenario() {
            $file::$scenario($target);
        }
    )* };
}

macro_rules! all_against {
    ($($module:ident: $target:expr),* $(,)?) => {
        against! { $($module: $target),* => [
            scenarios::speaks_the_revision_that_the_server_knows,
            scenarios::lists_tools,
            scenarios::calls_with_good_arguments,
            scenarios::reports_what_the_tool_or_server_refuses,
            scenarios::flattens_images_and_resources,
            scenarios::hears_the_progress_of_a_long_call,
            scenarios::shares_one_session_among_parallel_calls,
            scenarios::reuses_connections_over_a_thousand_calls,
            scenarios::calls_after_the_server_closed_its_idle_connection,
            scenarios::finds_the_server_again_after_a_restart_and_an_outage,
            ends::cancels_a_long_call,
            ends::gives_a_long_call_up_at_its_deadline,
            asks::calls_tools_of_any_name,
        ] }
    };
}

const EVERYTHING: Target = Target::plain(Server::Everything);
const FASTMCP: Target = Target::plain(Server::FastMcp);
const PYTHON_SDK: Target = Target::asking(Server::PythonSdk, "2025-11-25");
const RUST_SDK: Target = Target::asking(Server::RustSdk, "2025-06-18");
const TYPESCRIPT_SDK_1: Target = Target::asking(Server::TypeScript1, "2025-11-25");

all_against! {
    everything: EVERYTHING,
    fastmcp: FASTMCP,
    python_sdk: PYTHON_SDK,
    rust_sdk: RUST_SDK,
    typescript_sdk_1: TYPESCRIPT_SDK_1,
    typescript_sdk_2: Target::without_sessions(Server::TypeScript2, "2025-03-26"),
    modern_fastmcp: Target::modern(Server::FastMcp),
    modern_python_sdk: Target::modern(Server::PythonSdk),
    modern_rust_sdk: Target::modern(Server::RustSdk),
    modern_typescript_sdk_2: Target::modern(Server::TypeScript2),
    found_typescript_sdk_2: Target::found_modern(Server::TypeScript2Strict),
}

against! {
    everything_asked_modern: Target::not_modern(Server::Everything),
    typescript_sdk_1_asked_modern: Target::not_modern(Server::TypeScript1)
    => [
        scenarios::speaks_the_revision_that_the_server_knows,
        scenarios::lists_tools,
        scenarios::shares_one_session_among_parallel_calls,
        scenarios::finds_the_server_again_after_a_restart_and_an_outage,
    ]
}

against! {
    session_of_everything: EVERYTHING,
    session_of_fastmcp: FASTMCP,
    session_of_python_sdk: PYTHON_SDK,
    session_of_rust_sdk: RUST_SDK,
    session_of_typescript_sdk_1: TYPESCRIPT_SDK_1
    => [scenarios::ends_its_session_when_the_run_closes]
}

against! {
    streams_of_everything: Target::asking(Server::Everything, "2025-11-25"),
    streams_of_rust_sdk: Target::asking(Server::RustSdk, "2025-11-25"),
    streams_of_typescript_sdk_1: TYPESCRIPT_SDK_1
    => [ends::resumes_a_stream_that_breaks]
}

against! {
    headers_of_fastmcp: Target::modern(Server::FastMcp),
    headers_of_python_sdk: Target::modern(Server::PythonSdk),
    headers_of_rust_sdk: Target::modern(Server::RustSdk),
    headers_of_typescript_sdk_2: Target::modern(Server::TypeScript2)
    => [asks::repeats_parameters_in_headers, asks::looks_parameters_up_when_the_server_misses_them]
}

against! {
    questions_of_fastmcp: FASTMCP,
    questions_of_python_sdk: PYTHON_SDK,
    questions_of_rust_sdk: RUST_SDK,
    questions_of_typescript_sdk_1: TYPESCRIPT_SDK_1,
    modern_questions_of_fastmcp: Target::modern(Server::FastMcp),
    modern_questions_of_python_sdk: Target::modern(Server::PythonSdk),
    modern_questions_of_rust_sdk: Target::modern(Server::RustSdk),
    modern_questions_of_typescript_sdk_2: Target::modern(Server::TypeScript2)
    => [asks::answers_what_a_tool_asks, asks::declines_what_a_tool_asks]
}
