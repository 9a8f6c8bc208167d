/** The part of Markdown (https://spec.commonmark.org) that models write. HTML is text; what is not understood stays. */
export type Block =
  | { kind: 'heading'; level: number; inlines: Inline[] }
  | { kind: 'paragraph'; inlines: Inline[] }
  | { kind: 'code'; text: string }
  | { kind: 'quote'; blocks: Block[] }
  | { kind: 'list'; isOrdered: boolean; start: number; items: Block[][] }
  | { kind: 'table'; head: Inline[][]; rows: Inline[][][] }
  | { kind: 'rule' }

export type Inline =
  | string
  | { kind: 'code'; text: string }
  | { kind: 'strong' | 'em'; inlines: Inline[] }
  | { kind: 'link'; href: string; inlines: Inline[] }

const MAX_DEPTH = 6

const FENCE = /^ {0,3}(`{3,}|~{3,})/
const HEADING = /^ {0,3}(#{1,6})[ \t]+(.*?)[ \t#]*$/
const RULE = /^ {0,3}(?:(?:\*[ \t]*){3,}|(?:-[ \t]*){3,}|(?:_[ \t]*){3,})$/
const QUOTE = /^ {0,3}> ?(.*)$/
const ITEM = /^( {0,3})([-*+]|\d{1,9}[.)])( +|$)(.*)$/
const TABLE_LINE = /^ {0,3}\|?[ \t]*:?-+:?[ \t]*(?:\|[ \t]*:?-+:?[ \t]*)*\|?[ \t]*$/

export const parseMarkdown = (text: string): Block[] =>
  parseBlocks(text.replaceAll('\r\n', '\n').split('\n'), 0)

function parseBlocks(lines: string[], depth: number): Block[] {
  const blocks: Block[] = []
  let at = 0
  while (at < lines.length) {
    const line = lines[at] ?? ''
    if (line.trim() === '') {
      at += 1
      continue
    }
    const [block, next] = parseBlock(lines, at, depth)
    blocks.push(block)
    at = next
  }
  return blocks
}

/** The block that begins at a line that is not empty, and the line after it. */
function parseBlock(lines: string[], at: number, depth: number): [Block, number] {
  const line = lines[at] ?? ''
  const fence = FENCE.exec(line)?.[1]
  if (fence) {
    const isEnd = (each: string) =>
      each.trim().startsWith(fence) && each.trim().replaceAll(fence[0] ?? '', '') === ''
    const found = lines.findIndex((each, index) => index > at && isEnd(each))
    const end = found === -1 ? lines.length : found
    return [{ kind: 'code', text: lines.slice(at + 1, end).join('\n') }, end + 1]
  }
  const heading = HEADING.exec(line)
  if (heading)
    return [
      { kind: 'heading', level: heading[1]?.length ?? 1, inlines: parseInlines(heading[2] ?? '') },
      at + 1,
    ]
  if (RULE.test(line)) return [{ kind: 'rule' }, at + 1]
  if (depth < MAX_DEPTH) {
    if (QUOTE.test(line)) {
      const end = endOf(lines, at, (each) => QUOTE.test(each))
      const inner = lines.slice(at, end).map((each) => QUOTE.exec(each)?.[1] ?? '')
      return [{ kind: 'quote', blocks: parseBlocks(inner, depth + 1) }, end]
    }
    if (ITEM.test(line)) return parseList(lines, at, depth)
  }
  if (line.includes('|') && TABLE_LINE.test(lines[at + 1] ?? '') && (lines[at + 1] ?? '').includes('-')) {
    const end = endOf(lines, at + 2, (each) => each.includes('|') && each.trim() !== '')
    const [head = [], ...rows] = [line, ...lines.slice(at + 2, end)].map(toCells)
    return [{ kind: 'table', head, rows }, end]
  }
  const end = endOf(lines, at + 1, (each) => each.trim() !== '' && !beginsBlock(each))
  return [{ kind: 'paragraph', inlines: parseInlines(lines.slice(at, end).join('\n').trim()) }, end]
}

const beginsBlock = (line: string) =>
  FENCE.test(line) || HEADING.test(line) || RULE.test(line) || QUOTE.test(line) || ITEM.test(line)

/** The first line from `at` on that does not belong to it. */
function endOf(lines: string[], at: number, belongs: (line: string) => boolean): number {
  let end = at
  while (end < lines.length && belongs(lines[end] ?? '')) end += 1
  return Math.max(end, at)
}

function parseList(lines: string[], at: number, depth: number): [Block, number] {
  const first = ITEM.exec(lines[at] ?? '')?.[2] ?? ''
  const isOrdered = /\d/.test(first)
  const start = isOrdered ? Number.parseInt(first, 10) : 1
  const items: string[][] = []
  let indent = 0
  let next = at
  for (; next < lines.length; next += 1) {
    const line = lines[next] ?? ''
    const [, before = '', marker = '', space = '', content = ''] = ITEM.exec(line) ?? []
    const isNested = items.length > 0 && leadingSpaces(line) >= indent
    if (marker && !isNested && /\d/.test(marker) === isOrdered && !RULE.test(line)) {
      indent = before.length + marker.length + Math.min(Math.max(space.length, 1), 4)
      items.push([content])
    } else if (line.trim() === '') {
      // An empty line belongs to the list if something of it follows.
      const following = lines[next + 1] ?? ''
      if (leadingSpaces(following) < indent && !ITEM.test(following)) break
      items.at(-1)?.push('')
    } else if (isNested) items.at(-1)?.push(line.slice(indent))
    else if (marker || beginsBlock(line) || items.at(-1)?.at(-1) === '') break
    else items.at(-1)?.push(line.trim())
  }
  return [{ kind: 'list', isOrdered, start, items: items.map((each) => parseBlocks(each, depth + 1)) }, next]
}

const leadingSpaces = (line: string) => (line.trim() === '' ? 0 : line.length - line.trimStart().length)

const toCells = (line: string): Inline[][] =>
  line
    .trim()
    .replace(/^\||\|$/g, '')
    .split('|')
    .map((cell) => parseInlines(cell.trim()))

/** Characters of one block whose emphasis is looked for. */
const MAX_INLINE = 20_000

const INLINE = new RegExp(
  [
    /(?<ticks>`+)(?<code>[^`][\s\S]{0,2000}?|[^`])\k<ticks>(?!`)/,
    /!?\[(?<text>[^\]\n]{0,500})\]\((?<href>[^()\s]{1,2000})(?:\s+"[^"\n]{0,500}")?\)/,
    /(?<url>https:\/\/[^\s<>()[\]"'`]{1,2000}[^\s<>()[\]"'`.,;:!?])/,
    /(?<mark>\*\*|__)(?=\S)(?<strong>[\s\S]{0,1000}?\S)\k<mark>/,
    /(?<![\w*_])(?<sign>[*_])(?=[^\s*_])(?<em>[^*_\n]{0,500}?[^\s*_])\k<sign>(?![\w*_])/,
    /\\(?<escaped>[\\`*_{}[\]()#+\-.!|>~])/,
  ]
    .map(({ source }) => source)
    .join('|'),
  'g',
)

export function parseInlines(text: string, depth = 0): Inline[] {
  if (text.length > MAX_INLINE || depth > 3) return [text]
  const inlines: Inline[] = []
  let end = 0
  for (const match of text.matchAll(INLINE)) {
    const { code, text: label, href, url, strong, em, escaped } = match.groups ?? {}
    if (match.index > end) inlines.push(text.slice(end, match.index))
    end = match.index + match[0].length
    if (code !== undefined) inlines.push({ kind: 'code', text: code.trim() || code })
    else if (href !== undefined) inlines.push(toLink(match[0], label ?? '', href, depth))
    else if (url !== undefined) inlines.push(isHttps(url) ? { kind: 'link', href: url, inlines: [url] } : url)
    else if (strong !== undefined) inlines.push({ kind: 'strong', inlines: parseInlines(strong, depth + 1) })
    else if (em !== undefined) inlines.push({ kind: 'em', inlines: parseInlines(em, depth + 1) })
    else inlines.push(escaped ?? match[0])
  }
  if (end < text.length) inlines.push(text.slice(end))
  return inlines
}

/** Nothing but `https:` is a link. Pictures are links too: the page loads nothing from other hosts. */
function toLink(source: string, label: string, href: string, depth: number): Inline {
  return isHttps(href)
    ? { kind: 'link', href, inlines: label === '' ? [href] : parseInlines(label, depth + 1) }
    : source
}

const isHttps = (href: string) => /^https:\/\//i.test(href) && URL.canParse(href)
