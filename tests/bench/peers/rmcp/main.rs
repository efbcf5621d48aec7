//! `bench-rmcp plain|tuned URL SECRETS`: rmcp as it comes, or with idle connections kept, as many calls at once as are
//! made, and answers of any size.

#[path = "../../clients/turns.rs"]
mod turns;

use std::process::ExitCode;

use rmcp::ServiceExt;
use rmcp::model::{CallToolRequestParams, ContentBlock};
use rmcp::service::{Peer, RoleClient};
use rmcp::transport::StreamableHttpClientTransport;
use rmcp::transport::streamable_http_client::StreamableHttpClientTransportConfig;
use serde_json::{Map, Value};
use tokio::runtime::Builder;
use turns::{Times, Turn};

const MOST_AT_ONCE: usize = 4096;
const LARGEST: usize = 256 << 20;

fn scrub(text: String, secrets: &[String]) -> String {
    secrets.iter().fold(text, |text, secret| text.replace(secret, "[REDACTED]"))
}

async fn call(peer: &Peer<RoleClient>, tool: &str, secrets: &[String]) -> Result<String, String> {
    let arguments = Map::from_iter([("n".to_owned(), Value::from(1))]);
    let params = CallToolRequestParams::new(tool.to_owned()).with_arguments(arguments);
    let result = peer.call_tool(params).await.map_err(|error| error.to_string())?;
    match result.content.into_iter().next() {
        Some(ContentBlock::Text(text)) => Ok(scrub(text.text, secrets)),
        _ => Err("no text".into()),
    }
}

async fn calls(peer: Peer<RoleClient>, tool: String, count: usize, secrets: Vec<String>) -> Result<Times, String> {
    let mut times = Times::default();
    for _ in 0..count {
        let begin = times.begin();
        let text = call(&peer, &tool, &secrets).await?;
        times.keep(begin, text);
    }
    Ok(times)
}

async fn at_once(peer: &Peer<RoleClient>, turn: &Turn, secrets: &[String]) -> Result<Times, String> {
    let worker = || calls(peer.clone(), turn.tool.clone(), turn.each(), secrets.to_vec());
    if turn.width == 1 {
        return worker().await;
    }
    let tasks: Vec<_> = (0..turn.width).map(|_| tokio::spawn(worker())).collect();
    let mut all = Vec::with_capacity(turn.width);
    for task in tasks {
        all.push(task.await.map_err(|error| error.to_string())?);
    }
    Times::of_all(all)
}

fn tuned(url: String) -> Result<StreamableHttpClientTransport<reqwest::Client>, String> {
    let client = reqwest::Client::builder().tcp_nodelay(true).no_proxy().build().map_err(|error| error.to_string())?;
    let mut config = StreamableHttpClientTransportConfig::with_uri(url)
        .max_concurrent_requests(MOST_AT_ONCE)
        .max_json_response_size(LARGEST)
        .max_sse_event_size(LARGEST);
    config.channel_buffer_capacity = MOST_AT_ONCE;
    Ok(StreamableHttpClientTransport::with_client(client, config))
}

fn run() -> Result<(), String> {
    let mut arguments = std::env::args().skip(1);
    let form = arguments.next().ok_or("plain or tuned is missing")?;
    let (url, secrets) = turns::place(arguments)?;
    let url = format!("{url}/mcp");
    let runtime = Builder::new_current_thread().enable_all().build().map_err(|error| error.to_string())?;
    let client = runtime.block_on(async {
        let transport = if form == "tuned" { tuned(url)? } else { StreamableHttpClientTransport::from_uri(url) };
        ().serve(transport).await.map_err(|error| error.to_string())
    })?;
    turns::take(|turn| runtime.block_on(at_once(client.peer(), turn, &secrets)))
}

fn main() -> ExitCode {
    match run() {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("rmcp: {error}");
            ExitCode::FAILURE
        }
    }
}
