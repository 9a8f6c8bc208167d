import { describe, expect, it } from 'vitest'
import { describeOutcome } from '../../cli/trials/outcome.ts'
import type { TrialItem } from '../../clients/typescript/src/index.ts'
import { compareVersions } from '../../lib/contract/compare-versions.ts'
import type { VersionDetails } from '../../lib/contract/records/agent.ts'
import { findReasons } from '../../lib/contract/trial-outcome.ts'
import { toReport } from '../../lib/contract/trial-report.ts'
import { anItem, aTrial, TRIAL_ID, TRIED_VERSION } from '../support/a-trial.ts'
import { trialSums } from '../support/batches/a-batch.ts'

const COMMAND = `npx agent-execution trials results ${TRIAL_ID}`

const report = (items: TrialItem[], unmet: string[] = []) =>
  toReport(
    { trial: aTrial({ SAME: 1, CHANGED: items.length }), slug: 'triage', gate: {}, unmet, items },
    COMMAND,
  )

const lastRowOf = (markdown: string) => markdown.trimEnd().split('\n').at(-1) ?? ''

/** The text of the cells of the last row, as a browser shows it. */
function cellsOf(markdown: string): string[] {
  const decode = (text: string) =>
    text.replaceAll(/<\/?code>/g, '').replaceAll(/&#(\d+);/g, (_, code) => String.fromCharCode(Number(code)))
  return lastRowOf(markdown)
    .split('|')
    .slice(1, -1)
    .map((cell) => decode(cell.trim()))
}

describe('toReport', () => {
  it('has the verdict of the gate, the sums and each difference', () => {
    const item = anItem('CHANGED', [
      { path: '/total', original: 12.5, trial: 13 },
      { path: '/new', trial: true },
    ])
    const text = report([item], ['1 run changed; at most 0 may (maxChanged).'])
    expect(text).toContain(
      '## Trial of <code>triage</code>\n\n**The gate of the current version is not met:**\n\n- 1 run changed',
    )
    expect(text).toContain(
      `Version <code>${TRIED_VERSION}</code>, trial <code>${TRIAL_ID}</code>: 2 executions, $0.42.`,
    )
    expect(text).toContain('\n| CHANGED | 1 |\n')
    expect(text).toContain('| <code>/total</code> | <code>12.5</code> | <code>13</code> |\n')
    expect(cellsOf(text).slice(3)).toEqual(['/new', 'none', 'true'])
  })

  it.each([
    '<img src=x onerror=alert(1)>',
    '| a | b |',
    '`code` **bold** _it_ ~~no~~ # x',
    '[link](https://evil.example) ![image](https://evil.example/x.png)',
    'www.evil.example https://evil.example ada@example.com',
    '</code><b>',
  ])('shows a value as it is: %s', (value) => {
    const text = report([anItem('CHANGED', [{ path: `/${value}`, original: value, trial: null }])])
    const row = lastRowOf(text)
    expect(row.replaceAll(/<\/?code>/g, '')).not.toMatch(/[<>`*_[\]@!~$\\]|(?<!&)#|&(?!#\d+;)|www\.|:\/\//)
    expect(row.split('|')).toHaveLength(8)
    expect(cellsOf(text).slice(3)).toEqual([`/${value}`, JSON.stringify(value), 'null'])
  })

  it('has at most 60 kB, and says how to see the rest', () => {
    const values = { original: '@'.repeat(198), trial: '漢'.repeat(198) }
    const differences = Array.from({ length: 20 }, (_, n) => ({ path: `/${n}`, ...values }))
    const text = report(Array.from({ length: 200 }, () => anItem('CHANGED', differences)))
    expect(Buffer.byteLength(text)).toBeLessThanOrEqual(60_000)
    expect(Buffer.byteLength(text)).toBeGreaterThan(55_000)
    expect(text).toMatch(/\|\n\nThere are more: <code>npx agent-execution trials results /)
  })
})

describe('scores', () => {
  const mean = (mean: number, by = 0.01) => ({ mean, low: mean - by, high: mean + by })
  const scored = {
    ...{ agent: 'faithful', runs: 198, unscored: 2, wins: 3, losses: 45, ties: 150 },
    ...{ original: mean(0.8), trial: mean(0.75), difference: mean(-0.05) },
  }
  const none = { original: null, trial: null, difference: null }
  const unscored = { agent: 'tone', runs: 0, unscored: 200, wins: 0, losses: 0, ties: 0, ...none }
  const sums = { ...trialSums({ EQUIVALENT: 155, CHANGED: 45 }), scores: [scored, unscored] }
  const trial = aTrial(
    {},
    { lines: 200, sums, verdicts: sums.verdicts, scorers: [{ agent: 'faithful', tolerance: 0.1 }] },
  )
  const gate = { scores: { faithful: { maxDrop: 0.02 }, tone: { min: 0 } } }
  const outcome = { trial, slug: 'triage', gate, unmet: findReasons(trial, gate), items: [] }

  it('are in the report, by scorer, with their difference', () => {
    expect(toReport(outcome, COMMAND)).toContain(
      [
        '| scorer | original | trial | difference | 95 % | better | same | worse |',
        '| --- | --- | --- | --- | --- | --- | --- | --- |',
        '| faithful (2 without a score) | 0.8 | 0.75 | -0.05 | -0.06 to -0.04 | 3 | 150 | 45 |',
        '| tone (200 without a score) | - | - | - | - | 0 | 0 | 0 |',
      ].join('\n'),
    )
    expect(toReport(outcome, COMMAND)).toContain('\n| EQUIVALENT | 155 |\n')
    expect(report([])).not.toContain('EQUIVALENT')
  })

  it('are in the text of the command, also those of an item', () => {
    const scores = [{ agent: 'faithful', original: 0.9, trial: null }]
    const item = anItem('CHANGED', [{ path: '/a', original: 1, trial: 2 }], { scores })
    const text = describeOutcome({ ...outcome, items: [item] })
    expect(text).toMatch(
      /^faithful \(2 without a score\) +0\.8 +0\.75 +-0\.05 +-0\.06 to -0\.04 +3 +150 +45$/m,
    )
    expect(text).toContain('\n  /a: 1 → 2\n  score of faithful: 0.9 → -\n')
  })

  it('are reasons by the gate; without one, if they have dropped', () => {
    expect(outcome.unmet).toEqual([
      'The change of the mean score of faithful is -0.05 (95 %: -0.06 to -0.04), and must be at least -0.02 (scores.faithful.maxDrop).',
      'Not enough runs: 0 of 200 have scores of tone on both sides, fewer than 100 (scores.tone).',
    ])
    const equivalent = { ...trial, sums: { ...sums, verdicts: trialSums({ EQUIVALENT: 200 }).verdicts } }
    expect(findReasons(equivalent, null)).toEqual([
      'The mean score of faithful changes by -0.05 (95 %: -0.06 to -0.04).',
    ])
  })
})

describe('findReasons', () => {
  it('without a gate, wants no run to be worse, and all to be tried', () => {
    expect(findReasons(aTrial({ SAME: 5, CORRECTED: 2 }), null)).toEqual([])
    expect(findReasons(aTrial({ SAME: 5, CHANGED: 2, ERROR: 1 }), null)).toEqual(['1 ERROR, 2 CHANGED.'])
    const stopped = { code: 'BudgetExceeded', message: 'x' }
    expect(findReasons(aTrial({ SAME: 5 }, { lines: 9, error: stopped }), null)).toEqual([
      '4 of 9 executions were not tried.',
    ])
  })

  it('with a gate, is what the service checks', () => {
    expect(findReasons(aTrial({ CHANGED: 2, SAME: 1 }, { lines: 9 }), { maxChanged: 2 })).toEqual([])
    expect(findReasons(aTrial({ CHANGED: 3 }), { maxChanged: 2 })).toEqual([
      '3 runs changed; at most 2 may (maxChanged).',
    ])
    expect(findReasons(aTrial({}), {})).toEqual(['The trial has 0 runs, fewer than 1 (minRuns).'])
  })
})

const aVersion = (overrides: Partial<VersionDetails> = {}): VersionDetails => ({
  ...{ id: 'a', documentId: 'b', status: 'PUBLISHED', title: 'T', description: null, message: null },
  ...{ createdBy: 'c', number: 1, promotedAt: null, promotedBy: null, createdAt: 'd', retiredAt: null },
  ...{ model: 'openai/gpt-5', modelSettings: null, toolNames: [], tools: [] },
  ...{ useDynamicLearning: false, learning: { feedback: 'reviewed', unrated: false } },
  inputSchema: { text: { type: 'string' } },
  outputSchema: { text: { type: 'string' } },
  execution: {
    ...{ useCache: false, cacheTtlSeconds: null, timeoutSeconds: null, enforceInputSchema: false },
    ...{ maxAgentSteps: 10, maxAgentStepsAllowed: 10, models: null },
    ...{ maxTokens: null, maxCostUsd: null, maxParallelToolCalls: 20, maxChildren: 32 },
  },
  ...{ contentHash: 'e', documentHash: 'f', codeHash: null, code: false, env: [] },
  instructions: 'One.\nTwo.',
  ...overrides,
})

const http = (url: string) => ({ name: 'get_order', http: { url } })

describe('compareVersions', () => {
  it('finds nothing between versions that differ in what is not content', () => {
    const dates = { createdAt: 'y', retiredAt: 'w' }
    const other = aVersion({ ...dates, id: 'x', status: 'DRAFT', message: 'z', documentHash: 'g' })
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
      'scorers, by name',
      { scorers: [{ agent: 'tone' }, { agent: 'faithful', min: 0.7 }] },
      { scorers: [{ agent: 'faithful', min: 0.8 }, { agent: 'tone' }] },
      [{ path: '/scorers/faithful/min', before: 0.7, after: 0.8 }],
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
    const longer = aVersion({ instructions: 'One.\nAnd a half.\nTwo.\nThree.' })
    const { instructions } = compareVersions(aVersion(), longer)
    const lines = instructions.map(({ kind, text }) => `${kind} ${text}`)
    expect(lines).toEqual(['same One.', 'added And a half.', 'same Two.', 'added Three.'])
  })
})
