import type { Json } from '../../../core/json/json.ts'
import { JsonError, parseModelJson } from '../../../core/json/parse-json.ts'

type Parsed = { value: Json } | { problem: string }

/** Reasoning that a server did not separate. Some chat templates contain its opening tag. */
const REASONING = /^(?:(?!<\/think)[\s\S])*<\/think(?:ing)?>/

/**
 * The JSON value of a text: all of it, what follows its reasoning, or its only fenced block that is JSON. Else a
 * predicate that says why there is none. An object elsewhere in prose is not a value, because it may be a quotation.
 */
export function parseText(text: string): Parsed {
  const whole = parse(text)
  if ('value' in whole) return whole
  const answer = text.replace(REASONING, '')
  const rest = answer === text ? whole : parse(answer)
  if ('value' in rest) return rest
  const blocks = blocksOf(answer).map(parse)
  const values = blocks.filter((block) => 'value' in block)
  if (values.length > 1) return { problem: 'contains more than one block of JSON' }
  return values[0] ?? blocks[0] ?? rest
}

/** Precedes the end of a block, unlike fences in strings of JSON. */
const LINE_START_OR_BRACKET = /[\n}\]][ \t]*$/
const INFO_STRING = /^[^\n{[]*/

/** The contents of fenced blocks of Markdown. */
function blocksOf(text: string): string[] {
  const blocks: string[] = []
  let block: string[] | null = null
  for (const beforeFence of text.split('```').slice(0, -1)) {
    block?.push(beforeFence)
    if (!block) block = []
    else if (LINE_START_OR_BRACKET.test(beforeFence.slice(-80))) {
      blocks.push(block.join('```').replace(INFO_STRING, ''))
      block = null
    }
  }
  return blocks
}

function parse(text: string): Parsed {
  try {
    return { value: parseModelJson(text) }
  } catch (error) {
    if (error instanceof JsonError) return { problem: error.message }
    throw error
  }
}
