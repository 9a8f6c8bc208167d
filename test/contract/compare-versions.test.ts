import { describe, expect, it } from 'vitest'
import { compareVersions } from '../../lib/contract/compare-versions.ts'
import type { VersionDetails } from '../../lib/contract/records/agent.ts'

const aVersion = (overrides: Partial<VersionDetails> = {}): VersionDetails => ({
  ...{ id: 'a', documentId: 'b', status: 'PUBLISHED', title: 'T', description: null, message: null },
  ...{
    createdBy: 'c',
    createdAt: 'd',
    retiredAt: null,
    model: 'openai/gpt-5',
    modelSettings: null,
    useDynamicLearning: false,
    learning: { feedback: 'reviewed', unrated: false },
    toolNames: [],
    tools: [],
  },
  inputSchema: { text: { type: 'string' } },
  outputSchema: { text: { type: 'string' } },
  execution: {
    ...{ useCache: false, cacheTtlSeconds: null, maxAgentSteps: 10, timeoutSeconds: null },
    ...{ maxAgentStepsAllowed: 10, models: null },
    ...{ maxTokens: null, maxCostUsd: null },
    ...{ maxParallelToolCalls: 20, maxChildren: 32 },
  },
  ...{
    contentHash: 'e',
    documentHash: 'f',
    codeHash: null,
    code: false,
    env: [],
    instructions: 'One.\nTwo.',
  },
  ...overrides,
})
const http = (url: string) => ({ name: 'get_order', http: { url } })

describe('compareVersions', () => {
  it('finds nothing between versions that differ in what is not content', () => {
    const other = aVersion({
      id: 'x',
      status: 'DRAFT',
      createdAt: 'y',
      retiredAt: 'w',
      message: 'z',
      documentHash: 'g',
    })
    expect(compareVersions(aVersion(), other)).toEqual({ changes: [], instructions: [] })
  })

  it.each<[string, Partial<VersionDetails>, Partial<VersionDetails>, object[]]>([
    ['the model', {}, { model: null }, [{ path: '/model', before: 'openai/gpt-5', after: null }]],
    [
      'a field of a schema',
      {},
      { inputSchema: { text: { type: 'number' }, more: { type: 'string' } } },
      [
        { path: '/input/text/type', before: 'string', after: 'number' },
        { path: '/input/more', after: { type: 'string' } },
      ],
    ],
    [
      'tools, by name and regardless of their order',
      { tools: [{ name: 'a/b' }, http('https://a.example')] },
      { tools: [http('https://b.example'), { name: 'new' }] },
      [
        { path: '/tools/a~1b', before: { name: 'a/b' } },
        { path: '/tools/get_order/http/url', before: 'https://a.example', after: 'https://b.example' },
        { path: '/tools/new', after: { name: 'new' } },
      ],
    ],
    [
      'code by its hash, which old versions lack',
      { code: true },
      { code: true, codeHash: 'h' },
      [{ path: '/code', before: null, after: 'h' }],
    ],
  ])('finds changes of %s', (_, before, after, changes) => {
    expect(compareVersions(aVersion(before), aVersion(after)).changes).toEqual(changes)
  })

  it('compares instructions line by line', () => {
    const { instructions } = compareVersions(
      aVersion(),
      aVersion({ instructions: 'One.\nAnd a half.\nTwo.\nThree.' }),
    )
    expect(instructions.map(({ kind, text }) => `${kind} ${text}`)).toEqual([
      'same One.',
      'added And a half.',
      'same Two.',
      'added Three.',
    ])
  })
})
