//! verifi against servers that we did not write: each scenario runs against each of them.

mod process;
mod relay;
mod scenarios;
mod servers;
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
    (@tests $target:expr, [$($scenario:ident),* $(,)?]) => { $(
        #[test]
        fn $scenario() {
            scenarios::$scenario($target);
        }
    )* };
}

macro_rules! all_against {
    ($($module:ident: $target:expr),* $(,)?) => {
        against! { $($module: $target),* => [
            agrees_on_a_version,
            lists_tools,
            calls_with_good_arguments,
            reports_what_the_tool_or_server_refuses,
            flattens_images_and_resources,
            hears_the_progress_of_a_long_call,
            cancels_a_long_call,
            shares_one_session_among_parallel_calls,
            reuses_connections_over_hundreds_of_calls,
            calls_after_the_server_closed_its_idle_connection,
            finds_the_server_again_after_a_restart_and_an_outage,
        ] }
    };
}

all_against! {
    everything: Target::plain(Server::Everything),
    fastmcp: Target::plain(Server::FastMcp),
    python_sdk: Target::asking(Server::PythonSdk, "2025-11-25"),
    rust_sdk: Target::asking(Server::RustSdk, "2025-06-18"),
    typescript_sdk_1: Target::asking(Server::TypeScript1, "2025-11-25"),
    typescript_sdk_2: Target::without_sessions(Server::TypeScript2, "2025-03-26"),
    modern_fastmcp: Target::modern(Server::FastMcp),
    modern_python_sdk: Target::modern(Server::PythonSdk),
    modern_rust_sdk: Target::modern(Server::RustSdk),
    modern_typescript_sdk_2: Target::modern(Server::TypeScript2),
    found_typescript_sdk_2: Target::found_modern(Server::TypeScript2Strict),
}

against! {
    session_of_everything: Target::plain(Server::Everything),
    session_of_fastmcp: Target::plain(Server::FastMcp),
    session_of_python_sdk: Target::asking(Server::PythonSdk, "2025-11-25"),
    session_of_rust_sdk: Target::asking(Server::RustSdk, "2025-06-18"),
    session_of_typescript_sdk_1: Target::asking(Server::TypeScript1, "2025-11-25")
    => [ends_its_session_when_the_run_closes]
}
