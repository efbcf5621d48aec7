//! verifi against servers that we did not write: each scenario runs against each of them.

mod process;
mod relay;
mod scenarios;
mod servers;

macro_rules! against {
    ($($module:ident: $server:ident),*: $scenarios:tt) => { $(
        mod $module {
            against!(@tests $server $scenarios);
        }
    )* };
    (@tests $server:ident [$($scenario:ident),* $(,)?]) => { $(
        #[test]
        fn $scenario() {
            crate::scenarios::$scenario(crate::servers::Server::$server);
        }
    )* };
}

against! { everything: Everything, fastmcp: FastMcp: [
    lists_tools,
    calls_with_good_arguments,
    reports_what_the_tool_or_server_refuses,
    flattens_images_and_resources,
    hears_the_progress_of_a_long_call,
    cancels_a_long_call,
    shares_one_session_among_parallel_calls,
    reuses_connections_over_a_thousand_calls,
    calls_after_the_server_closed_its_idle_connection,
    opens_a_new_session_after_a_restart,
    finds_the_server_again_after_an_outage,
    ends_its_session_when_the_run_closes,
] }
