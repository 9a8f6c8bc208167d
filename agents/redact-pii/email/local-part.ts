import { isAsciiUnit, isSpacelessUnit } from './characters.ts'

/** Quotes, brackets and dots that markup or a sentence puts before an address. All are RFC 5322 `atext`. */
const WRAPPERS = /^[.!#$&'*/=?^`{|}~]+/
const IN_URL = /^[/?&#]|^www\.|\/\//
/** `email=` or `--author=`, but not `bounces+user=` in a return path, which is part of the address. */
const KEY = /^(?:--[A-Za-z-]+|[A-Za-z_]+)=/
const MAX_QUOTED_LENGTH = 66

/**
 * Returns the start of the local part that ends at `at` (the @), or `undefined` when there is none. `from` is the start
 * of the run of `atext` and dots. `'`, `=`, `/` and similar characters are legal in a local part, so the whole run
 * counts unless its format indicates a URL, a key or markup: a match that is too long is better than half an address.
 */
export function findLocalPartStart(text: string, from: number, at: number): number | undefined {
  if (from === at) return text[at - 1] === '"' ? findQuotedStart(text, at) : undefined
  // A handle in a URL (`medium.com/@some.one`) is not an address.
  if (text[at - 1] === '/') return undefined
  let start = skipSpacelessText(text, from, at)
  const run = text.slice(start, at)
  if (IN_URL.test(run)) start += lastDelimiter(run) + 1
  for (const prefix of [WRAPPERS, KEY, WRAPPERS]) start = skipPrefix(text, start, at, prefix)
  return start < at ? start : undefined
}

/** Skips the prefix unless nothing would remain: the local part of `***@example.org` consists of asterisks. */
function skipPrefix(text: string, start: number, at: number, prefix: RegExp): number {
  const length = prefix.exec(text.slice(start, at))?.[0].length ?? 0
  return start + length < at ? start + length : start
}

const lastDelimiter = (run: string) =>
  Math.max(run.lastIndexOf('/'), run.lastIndexOf('?'), run.lastIndexOf('&'), run.lastIndexOf('#'))

/** In `写信给anna@example.org` the address starts where the other script ends. */
function skipSpacelessText(text: string, from: number, at: number): number {
  if (!isAsciiUnit(text, at - 1)) return from
  let start = at
  while (start > from && !isSpacelessUnit(text, start - 1)) start--
  return start
}

/** RFC 5322 `quoted-string`: `"john doe"@example.org`. Not `" + "@example.org`, where the quotes delimit code. */
function findQuotedStart(text: string, at: number): number | undefined {
  const earliest = Math.max(0, at - MAX_QUOTED_LENGTH)
  for (let index = at - 2; index >= earliest; index--) {
    if (text[index] === '\n') return undefined
    if (text[index] !== '"' || text[index - 1] === '\\') continue
    const quoted = text.slice(index + 1, at - 1)
    return quoted !== '' && quoted.trim() === quoted ? index : undefined
  }
  return undefined
}
