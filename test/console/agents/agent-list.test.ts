import { describe, expect, it } from 'vitest'
import { searchAgents } from '../../../console/agents/agent-list.ts'

const agent = (slug: string, title: string, description: string | null = null) => ({
  id: `id-of-${slug}`,
  slug,
  title,
  description,
})

const agents = [
  agent('redact-pii', 'Redact PII', 'Replaces personal data in a text.'),
  agent('summarize-text', 'Résumé', 'Summarizes a text.'),
  agent('text-tools', 'Tools'),
]

const find = (query: string) => searchAgents(agents, query).map(({ slug }) => slug)

describe('searchAgents', () => {
  it('finds all without words', () => expect(find('  ')).toHaveLength(3))
  it('finds words in any order and case', () => expect(find('PII redact')).toEqual(['redact-pii']))
  it('ignores accents', () => expect(find('resume')).toEqual(['summarize-text']))
  it('searches descriptions, after titles and slugs', () =>
    expect(find('text')).toEqual(['summarize-text', 'text-tools', 'redact-pii']))
  it('finds nothing for a word that no agent has', () => expect(find('text nothing')).toEqual([]))
  it('finds ids', () => expect(find('id-of-text-tools')).toEqual(['text-tools']))
})
