import type { Json } from '../../core/json.ts'
import { exactNumber } from './exact-number.ts'

const TOKENS = /"[^"\\]*(?:\\.[^"\\]*)*"|-?\d[\d.eE+-]*|[a-z]+|[[\]{}]/g

/**
 * The value of a JSON text that opens with `bracket`; undefined when it is none, or when parsing loses a part of it: a
 * field given twice, or digits of a number.
 */
export function exactJson(text: string, bracket: '[' | '{'): Json | undefined {
  if (!text.trimStart().startsWith(bracket)) return undefined
  try {
    const value = JSON.parse(text) as Json
    const written = text.match(TOKENS) ?? []
    const kept = JSON.stringify(value).match(TOKENS) ?? []
    const isWhole = written.length === kept.length
    return isWhole && written.every((token) => !isNumber(token) || exactNumber(token) !== undefined)
      ? value
      : undefined
  } catch {
    return undefined
  }
}

const isNumber = (token: string) => /^[-\d]/.test(token)
