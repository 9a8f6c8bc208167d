import type { Span } from '../entity.ts'
import { tokensAround } from '../tokens-around.ts'
import { isLocalUnit } from './characters.ts'
import { findDomainEnd } from './domain.ts'
import { findLocalPartStart } from './local-part.ts'

const isAddressUnit = (text: string, index: number) => text[index] === '@' || isLocalUnit(text, index)

/** Finds at least the addresses that simple patterns match. A chain such as `a@b.com@c.com` is one span. */
export function findEmailAddresses(text: string): Span[] {
  const spans: Span[] = []
  for (const token of tokensAround(text, '@', isAddressUnit)) {
    let from = token.start
    for (let at = text.indexOf('@', from); at !== -1 && at < token.end; at = text.indexOf('@', from)) {
      addSpan(spans, findAddressAt(text, from, at))
      from = at + 1
    }
  }
  return spans
}

/** `from` is the earliest possible start of the local part. */
function findAddressAt(text: string, from: number, at: number): Span | undefined {
  const end = findDomainEnd(text, at)
  if (end === undefined) return undefined
  const start = findLocalPartStart(text, from, at)
  return start === undefined ? undefined : { start, end }
}

function addSpan(spans: Span[], span: Span | undefined): void {
  if (!span) return
  const last = spans.at(-1)
  if (last && span.start <= last.end) last.end = Math.max(last.end, span.end)
  else spans.push(span)
}
