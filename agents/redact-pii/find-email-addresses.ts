import { isLocalUnit } from './email-characters.ts'
import { domainEnd } from './email-domain.ts'
import { localPartStart } from './email-local-part.ts'
import type { Span } from './entity.ts'
import { tokensAround } from './tokens-around.ts'

const isAddressUnit = (text: string, index: number) => text[index] === '@' || isLocalUnit(text, index)

/** E-mail addresses: at least what simple patterns find. Chains such as `a@b.com@c.com` are one span. */
export function findEmailAddresses(text: string): Span[] {
  const spans: Span[] = []
  for (const token of tokensAround(text, '@', isAddressUnit)) {
    let from = token.start
    for (let at = text.indexOf('@', from); at !== -1 && at < token.end; at = text.indexOf('@', from)) {
      add(spans, addressAt(text, from, at))
      from = at + 1
    }
  }
  return spans
}

/** `from` is where the local part may start at the earliest. */
function addressAt(text: string, from: number, at: number): Span | undefined {
  const end = domainEnd(text, at)
  if (end === undefined) return undefined
  const start = localPartStart(text, from, at)
  return start === undefined ? undefined : { start, end }
}

function add(spans: Span[], span: Span | undefined): void {
  if (!span) return
  const last = spans.at(-1)
  if (last && span.start <= last.end) last.end = Math.max(last.end, span.end)
  else spans.push(span)
}
