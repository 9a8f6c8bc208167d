import { expect, it } from 'vitest'
import { searchAgents } from '../../../console/agents/agent-list.ts'

const agent = (slug: string, title: string, description: string | null = null) => ({
  ...{ id: `id-of-${slug}`, slug, title, description },
})

it.each([
  ['  ', ['redact-pii', 'summarize-text', 'text-tools']],
  // In any order and case, without accents.
  ['TEXT resume', ['summarize-text']],
  // In descriptions, after titles and slugs.
  ['text', ['summarize-text', 'text-tools', 'redact-pii']],
  ['text nothing', []],
  ['null', []],
  ['id-of-text-tools', ['text-tools']],
])('searchAgents finds for %j: %j', (query, found) => {
  const agents = [
    agent('redact-pii', 'Redact PII', 'Replaces personal data in a text.'),
    agent('summarize-text', 'Résumé', 'Summarizes a text.'),
    agent('text-tools', 'Tools'),
  ]
  expect(searchAgents(agents, query).map(({ slug }) => slug)).toEqual(found)
})
