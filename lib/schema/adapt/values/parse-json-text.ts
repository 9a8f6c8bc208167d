import { containsExactNumber, type Json } from '../../../core/json.ts'
import { JsonError, parseJson } from '../../../core/parse-json.ts'

const FENCE = '```'

/**
 * Parses a text that contains a JSON object or array, also in a Markdown code fence or encoded twice. Undefined for any
 * other text, and when parsing would lose digits or keys.
 */
export function parseJsonText(text: string): Json | undefined {
  const json = stripFence(text.trim())
  const value = parse(json)
  const inner = typeof value === 'string' ? parse(value.trim()) : value
  return typeof inner === 'object' && inner !== null && !containsExactNumber(inner) ? inner : undefined
}

function parse(text: string): Json | undefined {
  if (!/^[[{"]/.test(text)) return undefined
  try {
    return parseJson(text)
  } catch (error) {
    if (error instanceof JsonError) return undefined
    throw error
  }
}

function stripFence(text: string): string {
  const lineEnd = text.indexOf('\n')
  if (!text.startsWith(FENCE) || !text.endsWith(FENCE) || lineEnd < 0) return text
  const language = text.slice(FENCE.length, lineEnd).trim().toLowerCase()
  if (language !== '' && language !== 'json') return text
  return text.slice(lineEnd + 1, Math.max(text.length - FENCE.length, lineEnd + 1)).trim()
}
