//! Authorization without a person: tokens by OAuth 2.0's client credentials (RFC 6749, section 4.4), kept for the
//! server that they were fetched for, and sent to no other.

use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use http::{HeaderMap, HeaderValue, StatusCode, header};
use zeroize::Zeroizing;

use super::client::Server;
use super::failure::Failure;
use super::post::{http_failure, shown_target};
use super::shared::Shared;
use super::token::{Cause, Grant, Token, sensitive};
use crate::background::Background;
use crate::cancel::{Scope, Stop};
use crate::encode::form_into;
use crate::http::{Client, Method, Request, Resend, Response};
use crate::lock::Lock;
use crate::manifest::{AuthSpec, Endpoint};
use crate::run_secrets::{Ended, Keyring};

/// The most bytes of a token server's answer.
const LONGEST_ANSWER: usize = 64 * 1024;

/// A renewal in the background is given up after so long.
const RENEWAL_LIMIT: Duration = Duration::from_secs(30);

/// The authorization of one server.
pub(super) struct Authorization {
    /// Given up when the run is closed.
    spec: Mutex<Option<Arc<AuthSpec>>>,
    /// What the token is for (RFC 8707).
    resource: String,
    /// The token server, as errors show it.
    shown: Arc<str>,
    keyring: Keyring,
    background: Arc<Background>,
    http: Client,
    token: Arc<Shared<Token>>,
}

impl Server {
    /// Sends a request with the server's authorization, if it has one. A 401 says that it was not run: it is sent again,
    /// once, with a token that is fetched anew.
    pub(super) fn deliver(&self, scope: &Arc<Scope>, request: &Request) -> Result<Response, Failure> {
        let Some(authorization) = &self.authorization else { return Ok(self.http.send(scope, request)?) };
        let token = authorization.token(scope)?;
        let response = self.send_with(scope, request, &token)?;
        if response.status != StatusCode::UNAUTHORIZED || token.is_second(scope) {
            return Ok(response);
        }
        response.finish();
        let token = authorization.another(scope, &token)?;
        self.send_with(scope, request, &token)
    }

    fn send_with(&self, scope: &Arc<Scope>, request: &Request, token: &Token) -> Result<Response, Failure> {
        let mut headers = request.headers.clone();
        headers.insert(header::AUTHORIZATION, token.header().clone());
        Ok(self.http.send(scope, &Request { headers: &headers, ..*request })?)
    }
}

impl Authorization {
    pub(super) fn new(
        spec: &AuthSpec,
        endpoint: &Endpoint,
        keyring: Keyring,
        background: Arc<Background>,
    ) -> Arc<Authorization> {
        Arc::new(Authorization {
            spec: Mutex::new(Some(Arc::new(spec.clone()))),
            resource: endpoint.without_query().to_owned(),
            shown: spec.token_url.shown().clone(),
            keyring,
            background,
            http: Client::default(),
            token: Arc::default(),
        })
    }

    /// A token that lasts. One that will not for long is renewed meanwhile: no call waits for that.
    fn token(self: &Arc<Self>, scope: &Arc<Scope>) -> Result<Arc<Token>, Failure> {
        let token = self.shared(scope, Cause::Need)?;
        if token.begin_renewal() {
            let authorization = self.clone();
            self.background.accompany(RENEWAL_LIMIT, move |scope| {
                let lasts = |token: &Token| !token.is_due();
                // The token is tried again at its end, by a call that can tell of the failure.
                let _ = authorization.token.get(scope, lasts, || authorization.fetch(scope, Cause::Need));
            });
        }
        Ok(token)
    }

    /// A token in the place of one that the server has refused.
    fn another(self: &Arc<Self>, scope: &Arc<Scope>, refused: &Arc<Token>) -> Result<Arc<Token>, Failure> {
        self.token.forget(refused);
        self.shared(scope, Cause::Refusal)
    }

    fn shared(&self, scope: &Arc<Scope>, cause: Cause) -> Result<Arc<Token>, Failure> {
        let token = self.token.get(scope, Token::is_valid, || self.fetch(scope, cause));
        token.map_err(|failure| failure.of_token(&self.shown))
    }

    fn fetch(&self, scope: &Arc<Scope>, cause: Cause) -> Result<Arc<Token>, Failure> {
        let spec = self.spec.locked().clone().ok_or(Failure::stopped(Stop::Closed))?;
        let asked = Instant::now();
        let body = self.form(&spec);
        let request = Request {
            method: Method::Post,
            uri: spec.token_url.uri(),
            headers: &headers(&spec),
            body: body.as_bytes(),
            resend: Resend::Unanswered,
        };
        let response = self.http.send(scope, &request)?;
        let answer = read(scope, response)?;
        let grant = Grant::parse(&answer).map_err(Failure::unsent)?;
        // Whatever is wrong with it: it is a secret from here on.
        self.keyring.add(&grant.token).map_err(|Ended| Failure::stopped(Stop::Closed))?;
        let token = grant.check_type().and_then(|()| Token::new(&grant, asked, cause));
        token.map(Arc::new).map_err(Failure::unsent)
    }

    /// RFC 6749, section 4.4.2, and RFC 8707, section 2.
    fn form(&self, spec: &AuthSpec) -> String {
        let mut form = "grant_type=client_credentials".to_owned();
        for (name, value) in [("scope", spec.scope.as_deref()), ("resource", Some(self.resource.as_str()))] {
            if let Some(value) = value {
                form.push('&');
                form.push_str(name);
                form.push('=');
                form_into(&mut form, value);
            }
        }
        form
    }

    /// The run is closed: gives up what holds secrets.
    pub(super) fn forget_secrets(&self) {
        self.spec.locked().take();
        if let Some(token) = self.token.made() {
            self.token.forget(&token);
        }
        self.http.clear();
    }
}

fn headers(spec: &AuthSpec) -> HeaderMap {
    let mut headers = HeaderMap::new();
    headers.insert(header::ACCEPT, HeaderValue::from_static("application/json"));
    headers.insert(header::CONTENT_TYPE, HeaderValue::from_static("application/x-www-form-urlencoded"));
    // Base64 is fit to be sent.
    if let Some(credentials) = sensitive(&[spec.credentials.as_str()]) {
        headers.insert(header::AUTHORIZATION, credentials);
    }
    headers
}

/// The body of an answer that may be a grant.
fn read(scope: &Arc<Scope>, mut response: Response) -> Result<Zeroizing<Vec<u8>>, Failure> {
    let status = response.status;
    if let Some(target) = response.headers.get(header::LOCATION).filter(|_| status.is_redirection()) {
        let shown = shown_target(&String::from_utf8_lossy(target.as_bytes()));
        return Err(Failure::unsent(format!("HTTP {status} to {shown}: redirects of a token server are not followed")));
    }
    if !status.is_success() {
        return Err(http_failure(scope, response));
    }
    // A buffer that grew would leave a copy of the token behind.
    let mut body = Zeroizing::new(vec![0; LONGEST_ANSWER + 1]);
    let mut filled = 0;
    loop {
        let amount = response.read(scope, &mut body[filled..])?;
        filled += amount;
        if filled > LONGEST_ANSWER {
            return Err(Failure::unsent(format!("the answer is larger than {LONGEST_ANSWER} bytes")));
        }
        if amount == 0 {
            break;
        }
    }
    response.finish();
    body.truncate(filled);
    Ok(body)
}
