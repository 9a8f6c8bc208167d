import { isAsciiUnit, isSpacelessUnit } from './email-characters.ts'

/** Quotes, brackets and dots that markup or a sentence puts before an address, all of them RFC 5322 `atext`. */
const WRAPPERS = /^[.!#$&'*/=?^`{|}~]+/
const IN_URL = /^[/?&#]|^www\.|\/\//
/** `email=` or `--author=`, but not the `bounces+user=` of a return path, which is part of the address. */
const KEY = /^(?:--[A-Za-z-]+|[A-Za-z_]+)=/
const MAX_QUOTED = 66

/**
 * Where the local part that ends at `at` (the @) starts, given the run of `atext` and dots from `from`;
 * `undefined` when there is none. `'`, `=`, `/` and such are legal in a local part, so the whole run counts
 * unless its form says URL, key or markup: rather too much is taken than half an address left.
 */
export function localPartStart(text: string, from: number, at: number): number | undefined {
  if (from === at) return text[at - 1] === '"' ? quotedStart(text, at) : undefined
  // A handle in a URL (`medium.com/@some.one`), no address.
  if (text[at - 1] === '/') return undefined
  let start = afterSpacelessText(text, from, at)
  const run = text.slice(start, at)
  if (IN_URL.test(run)) start += lastDelimiter(run) + 1
  for (const prefix of [WRAPPERS, KEY, WRAPPERS]) start = afterPrefix(text, start, at, prefix)
  return start < at ? start : undefined
}

/** The end of the prefix, unless nothing would be left: `***@example.org` is a local part of asterisks. */
function afterPrefix(text: string, start: number, at: number, prefix: RegExp): number {
  const length = prefix.exec(text.slice(start, at))?.[0].length ?? 0
  return start + length < at ? start + length : start
}

const lastDelimiter = (run: string) =>
  Math.max(run.lastIndexOf('/'), run.lastIndexOf('?'), run.lastIndexOf('&'), run.lastIndexOf('#'))

/** In `写信给anna@example.org` the address starts where the other script ends. */
function afterSpacelessText(text: string, from: number, at: number): number {
  if (!isAsciiUnit(text, at - 1)) return from
  let start = at
  while (start > from && !isSpacelessUnit(text, start - 1)) start--
  return start
}

/** RFC 5322 `quoted-string`: `"john doe"@example.org`. Not `" + "@example.org`, where the quotes are code's. */
function quotedStart(text: string, at: number): number | undefined {
  const floor = Math.max(0, at - MAX_QUOTED)
  for (let index = at - 2; index >= floor; index--) {
    if (text[index] === '\n') return undefined
    if (text[index] !== '"' || text[index - 1] === '\\') continue
    const quoted = text.slice(index + 1, at - 1)
    return quoted !== '' && quoted.trim() === quoted ? index : undefined
  }
  return undefined
}
