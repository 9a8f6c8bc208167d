import type { DocsIndex } from '../../lib/console-server/docs-index.ts'

/** A section that matches. `title`: of its page. `snippet`: the text around the first match. */
export type FoundSection = { href: string; title: string; heading: string; snippet: string }

const MAX_FOUND = 20
const SNIPPET = { before: 40, length: 160 }

/** The sections that contain every word, those with words in their headings first. */
export function findSections({ pages, sections }: DocsIndex, query: string): FoundSection[] {
  const words = query.toLowerCase().split(/\s+/).filter(Boolean)
  if (words.length === 0) return []
  return sections
    .map((section) => {
      const { name = '', title = '' } = pages[section.page] ?? {}
      return { section, name, title, score: scoreOf(words, title, section) }
    })
    .filter(({ score }) => score > 0)
    .sort((a, b) => b.score - a.score)
    .slice(0, MAX_FOUND)
    .map(({ section: { id, heading, text }, name, title }) => ({
      href: `${name}#${id}`,
      title,
      heading,
      snippet: snippetOf(text, words),
    }))
}

/** 0 if a word is missing. */
function scoreOf(words: string[], title: string, { heading, text }: DocsIndex['sections'][number]): number {
  const [inTitle, inHeading, inText] = [title, heading, text].map((each) => each.toLowerCase())
  let score = 0
  for (const word of words) {
    const found =
      (startsWord(inHeading, word) ? 8 : inHeading?.includes(word) ? 4 : 0) +
      (startsWord(inTitle, word) ? 3 : 0) +
      (inText?.includes(word) ? 1 : 0)
    if (found === 0) return 0
    score += found
  }
  return score
}

const startsWord = (text = '', word: string) =>
  ` ${text.replace(/[^\p{L}\p{N}]+/gu, ' ')}`.includes(` ${word}`)

function snippetOf(text: string, words: string[]): string {
  const lower = text.toLowerCase()
  const first = Math.min(...words.map((word) => lower.indexOf(word)).filter((at) => at >= 0))
  const from = Number.isFinite(first) ? Math.max(first - SNIPPET.before, 0) : 0
  // From the beginning of a word on.
  const start = from === 0 ? 0 : text.indexOf(' ', from) + 1
  const part = text.slice(start, start + SNIPPET.length)
  return `${start > 0 ? '…' : ''}${part}${start + part.length < text.length ? '…' : ''}`
}
