import { describe, expect, it } from 'vitest'
import { compareVersions } from '../../lib/api/compare-versions.ts'
import type { VersionDetails } from '../../lib/api/schemas/agent-record.ts'

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
      'lists, as a whole',
      { outputSchema: { text: { enum: ['a', 'b'] } } },
      { outputSchema: { text: { enum: ['b', 'a'] } } },
      [{ path: '/output/text/enum', before: ['a', 'b'], after: ['b', 'a'] }],
    ],
    [
      'settings of the model and of runs',
      {},
      { modelSettings: { temperature: 1 }, execution: { ...aVersion().execution, useCache: true } },
      [
        { path: '/modelSettings/temperature', after: 1 },
        { path: '/execution/useCache', before: false, after: true },
      ],
    ],
    ['a context', {}, { context: { keep: 5 } }, [{ path: '/context/keep', after: 5 }]],
    ['required tools', {}, { requireTools: true }, [{ path: '/requireTools', before: false, after: true }]],
    [
      'code by its hash, which old versions lack',
      { code: true },
      { code: true, codeHash: 'h' },
      [{ path: '/code', before: null, after: 'h' }],
    ],
    [
      'a field that is called like a member of every object',
      {},
      { inputSchema: { text: { type: 'string' }, constructor: { type: 'string' } } },
      [{ path: '/input/constructor', after: { type: 'string' } }],
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

  it('replaces texts that have nothing in common, however long', () => {
    const lines = (word: string) => Array.from({ length: 8_000 }, (_, n) => `${word} ${n}`).join('\n')
    const { instructions } = compareVersions(
      aVersion({ instructions: lines('a') }),
      aVersion({ instructions: lines('b') }),
    )
    expect(instructions.map(({ kind }) => kind)).toEqual([
      ...Array(8_000).fill('removed'),
      ...Array(8_000).fill('added'),
    ])
  })
})
