//! Requests at the admin port: checks them, and answers with the pages of [`admin`](crate::transport::admin). Knows no
//! connections.

use http_body::Body;
use hyper::body::Incoming;
use hyper::header::{ALLOW, CONTENT_TYPE, HeaderValue};
use hyper::{Method, Request, Response, StatusCode};

use super::body::AnswerBody;
use super::checks::{Checks, HttpRefusal};
use super::response::Unheard;
use crate::transport::admin::{Page, Pages};

/// What the port serves.
#[derive(Debug)]
pub(super) struct AdminSite {
    pub(super) pages: Pages,
    pub(super) checks: Checks,
}

impl AdminSite {
    pub(super) fn respond(&self, request: Request<Incoming>) -> Response<AnswerBody> {
        let (head, body) = request.into_parts();
        let path = head.uri.path();
        let page = match self.checks.check_operator(&head, Pages::is_private(path)) {
            Ok(()) => (self.pages.page(head.method == Method::GET, path), None),
            Err(HttpRefusal { status, message, header, .. }) => (Page::line(status, &message), header),
        };
        let (Page { status, content_type, text }, header) = page;
        let mut response = Response::new(AnswerBody::Whole(Some(text.into())));
        *response.status_mut() = StatusCode::from_u16(status).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR);
        response.headers_mut().insert(CONTENT_TYPE, HeaderValue::from_static(content_type));
        if status == 405 {
            response.headers_mut().insert(ALLOW, HeaderValue::from_static("GET"));
        }
        if let Some((name, value)) = header {
            response.headers_mut().insert(name, value);
        }
        if !body.is_end_stream() {
            response.extensions_mut().insert(Unheard);
        }
        response
    }
}
