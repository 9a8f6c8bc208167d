import type { Wire } from './format.ts'
import type { RecordedRequest } from './recorded-request.ts'

/** The prices of an input token in the prompt cache, for one that is not cached: Anthropic's and Bedrock's. */
const PRICES = { read: 0.1, write: 1.25 }
/** Anthropic and Bedrock look for a cached prefix at a mark, and at this many blocks before it. */
const LOOK_BACK = 20
const BYTES_PER_TOKEN = 4

type Block = { bytes: number; isMarked: boolean; prefix: string }

/** What the input of requests costs, in input tokens: with the cache that their marks ask for, and without. */
export function computePromptCosts(requests: RecordedRequest[]): { cached: number; uncached: number } {
  const cache = new Set<string>()
  let [cached, uncached] = [0, 0]
  for (const request of requests) {
    const blocks = toBlocks(request)
    const size = sizeOf(blocks)
    const lastMark = blocks.findLastIndex(({ isMarked }) => isMarked)
    const hit = blocks.findLastIndex(({ prefix }, index) => {
      const mark = blocks.findIndex(({ isMarked }, later) => isMarked && later >= index)
      return mark >= 0 && mark - index <= LOOK_BACK && cache.has(prefix)
    })
    const read = sizeOf(blocks.slice(0, hit + 1))
    const written = Math.max(sizeOf(blocks.slice(0, lastMark + 1)) - read, 0)
    uncached += size
    cached += read * PRICES.read + written * PRICES.write + (size - read - written)
    for (const { prefix, isMarked } of blocks) if (isMarked) cache.add(prefix)
  }
  return { cached: cached / BYTES_PER_TOKEN, uncached: uncached / BYTES_PER_TOKEN }
}

const sizeOf = (blocks: Block[]): number => blocks.reduce((sum, { bytes }) => sum + bytes, 0)

/** The parts of a prompt in the order in which providers cache them: tools, system prompt, messages. */
function toBlocks({ format, body }: RecordedRequest): Block[] {
  const parts: Wire[] = [
    ...toList(body.tools),
    ...toList((body.toolConfig as Wire)?.tools),
    ...toList(body.system),
    ...toList(body.messages).flatMap((message: Wire) => toList(message.content)),
  ]
  const blocks: Block[] = []
  let prefix = ''
  for (const part of parts) {
    const last = blocks.at(-1)
    if (part.cachePoint) {
      if (last) last.isMarked = true
      continue
    }
    const { cache_control: mark, ...content } = part
    const text = JSON.stringify(content)
    prefix += text
    blocks.push({ bytes: Buffer.byteLength(text), isMarked: mark !== undefined, prefix })
  }
  if (format !== 'anthropic' && format !== 'bedrock') throw new Error(`${format} has no marks.`)
  return blocks
}

const toList = (value: Wire): Wire[] => (Array.isArray(value) ? value : [])

/** The share of the input of requests that begins like a request before: what a provider's cache can hold at best. */
export function computeCacheableShare(requests: RecordedRequest[]): number {
  let [total, cacheable] = [0, 0]
  let previous = ''
  for (const request of requests) {
    const prompt = toPromptText(request)
    total += prompt.length
    cacheable += commonPrefix(previous, prompt)
    previous = prompt
  }
  return cacheable / total
}

/** Tools, system prompt and messages, in the order in which providers cache them, without marks. */
function toPromptText({ body }: RecordedRequest): string {
  const { tools, toolConfig, system, instructions, messages, input } = body
  return JSON.stringify([tools ?? toolConfig, system ?? instructions, messages ?? input], (key, value) => {
    if (key === 'cache_control') return undefined
    return Array.isArray(value) ? value.filter((item) => !item?.cachePoint) : value
  })
}

function commonPrefix(a: string, b: string): number {
  let length = 0
  while (length < a.length && a[length] === b[length]) length++
  return length
}
