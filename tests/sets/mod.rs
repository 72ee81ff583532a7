//! What every tool shares (contract 2, 6, 7): the sets of tools, the number of the first line, lenient arguments, and
//! `POST /tools/{name}`.

mod choice;
mod empty; // values that say nothing
mod lenient;
mod line_base;
mod posted;
