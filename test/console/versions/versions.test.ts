import { execFileSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import fc from 'fast-check'
import { afterAll, describe, expect, it } from 'vitest'
import {
  type Editable,
  findObstacle,
  toChangedLines,
  toEditedDocument,
  toEditForm,
  toPatch,
} from '../../../console/versions/edited-document.ts'
import { describeGate } from '../../../console/versions/gate.tsx'
import { limitsOf, modelSettingsOf } from '../../../console/versions/version-settings.ts'
import { isOlder, stateOf } from '../../../console/versions/version-state.tsx'
import { parseDocument } from '../../../lib/agents/document/check-document.ts'
import { toDocumentText } from '../../../lib/core/agent.ts'
import { anAgentRecord, aVersionWithDocument } from '../../browser/stub/records.ts'

const frontMatter = {
  ...{ title: 'Sort', input: { text: { type: 'string' } }, output: {} },
  execution: {
    useCache: true,
    cacheTtlSeconds: null,
    timeoutSeconds: null,
    maxTokens: null,
    maxAgentSteps: 8,
  },
  tools: [{ name: 'look', agent: 'redact-pii' }],
}
const editable = (overrides: Partial<Editable> = {}): Editable => ({
  ...{ instructions: 'Sort it.', frontMatter },
  ...overrides,
})
const parse = (text: string) => parseDocument(text, 'sort').document
const edit = (of: Editable, change: object) => parse(toEditedDocument(of, { ...toEditForm(of), ...change }))

describe('toEditedDocument', () => {
  it('is the document as it was if nothing is edited', () => {
    for (const each of [
      editable(),
      editable({ instructions: 'Sort it:\r\n\r\n- by age\r\n- by name' }),
      editable({ frontMatter: { ...frontMatter, model: { name: 'a/b', temperature: 0.25 } } }),
    ])
      expect(toEditedDocument(each, toEditForm(each))).toBe(
        toDocumentText(each.frontMatter, each.instructions),
      )
  })

  it('changes what is edited, and nothing else', () => {
    const before = parse(toDocumentText(frontMatter, 'Sort it.'))
    expect(edit(editable(), { maxTokens: '5000', maxAgentSteps: '', instructions: 'Sort\nthem.' })).toEqual({
      ...before,
      instructions: 'Sort\nthem.',
      execution: { useCache: true, cacheTtlSeconds: null, timeoutSeconds: null, maxTokens: 5000 },
    })
    const settings = { fallbacks: ['openai/gpt-5'], temperature: 0.5 }
    const withModel = editable({
      frontMatter: { ...frontMatter, model: { name: 'openai/gpt-4', ...settings } },
    })
    expect(edit(withModel, { model: 'openai/gpt-6' })?.model).toEqual({ name: 'openai/gpt-6', ...settings })
    expect(edit(withModel, { model: '' })?.model).toEqual(settings)
    expect(edit(editable(), { model: ' openai/gpt-6 ' })?.model).toBe('openai/gpt-6')
  })

  it('keeps the line breaks of Windows', () => {
    const windows = editable({ instructions: 'Sort it:\r\n- by age' })
    expect(toEditForm(windows).instructions).toBe('Sort it:\n- by age')
    expect(edit(windows, { instructions: 'Sort:\n- by age' })?.instructions).toBe('Sort:\r\n- by age')
  })
})

describe('findObstacle', () => {
  const me = { httpPublishing: true, scopes: ['read' as const, 'manage' as const] }
  const found = (overrides: object = {}, agent = {}, own = {}) =>
    findObstacle(anAgentRecord(agent), aVersionWithDocument(overrides), { ...me, ...own })

  it('is null for a model agent that can be published over HTTP', () => {
    expect(found()).toBeNull()
    expect(found({ frontMatter, instructions: 'a\r\nb' })).toBeNull()
  })

  it.each([
    ['archived', {}, { archivedAt: '2026-11-20T09:00:00.000Z' }, {}],
    ['Code', { code: true }, {}, {}],
    ['remote', { remote: { url: 'https://agents.example', timeoutSeconds: 60 } }, {}, {}],
    ['scope manage', {}, {}, { scopes: ['read'] }],
    ['httpPublishing', {}, {}, { httpPublishing: false }],
    ['without changing more', { frontMatter: null }, {}, {}],
    ['without changing more', { instructions: 'a\r\nb\nc' }, {}, {}],
    ['without changing more', { instructions: 'a\rb' }, {}, {}],
  ])('is told: %s', (text, overrides, agent, own) => {
    expect(found(overrides, agent, own)).toContain(text)
  })
})

describe('toPatch', () => {
  const folder = mkdtempSync(join(tmpdir(), 'aes-patch-'))
  afterAll(() => rmSync(folder, { recursive: true }))
  const file = join(folder, 'agents', 'sort', 'agent.md')

  /** The file after `git apply`. */
  function apply(text: string, patch: string): string {
    mkdirSync(join(file, '..'), { recursive: true })
    writeFileSync(file, text)
    execFileSync('git', ['apply', '-'], { cwd: folder, input: patch, stdio: ['pipe', 'pipe', 'pipe'] })
    return readFileSync(file, 'utf8')
  }

  it('is taken by git, wherever the instructions begin in the file', () => {
    const line = fc.constantFrom('Sort it.', '- by age', '', '--- a', '+++ b', 'é\u2028', 'x\r')
    const text = fc
      .array(line, { minLength: 1, maxLength: 12 })
      .map((lines) => `Begin.\n${lines.join('\n')}\nEnd.`)
    fc.assert(
      fc.property(text, text, fc.integer({ min: 1, max: 60 }), (before, after, comments) => {
        const patch = toPatch('sort', before, after)
        if (patch === null) return expect(after).toBe(before)
        const head = `---\ntitle: Sort\n${'# a comment\n'.repeat(comments)}---\n\n`
        expect(apply(`${head}${before}\n`, patch)).toBe(`${head}${after}\n`)
      }),
      { numRuns: 40 },
    )
  })

  it('is null without a difference', () => {
    expect(toPatch('sort', 'a', 'a')).toBeNull()
  })
})

it('toChangedLines are those of the front matter that differ, as YAML', () => {
  const after = {
    ...frontMatter,
    model: 'openai/gpt-5',
    execution: { useCache: true, cacheTtlSeconds: null, timeoutSeconds: 30, maxTokens: null },
  }
  expect(toChangedLines(frontMatter, after)).toBe(
    'execution:\n  timeoutSeconds: 30\n  # Remove maxAgentSteps\nmodel: "openai/gpt-5"',
  )
  expect(toChangedLines(frontMatter, frontMatter)).toBe('')
})

it('describeGate names each limit, and none if a trial only has to exist', () => {
  const gate = { minRuns: 100, maxRegressed: 0, maxChanged: 5, maxError: 1, maxCostIncrease: 0.1 }
  expect(describeGate({ require: 'trial', ...gate })).toEqual([
    'at least 100 runs',
    'at most 0 regressed',
    'at most 5 changed',
    'at most 1 failed or diverged',
    'costs at most 10% more',
  ])
  expect(describeGate({ require: 'trial' })).toEqual([])
})

const version = aVersionWithDocument()

it('limitsOf tells what a run may use, and where there is no limit', () => {
  const execution = {
    ...version.execution,
    ...{ timeoutSeconds: 120, maxTokens: 5_000, maxCostUsd: 0.5, useCache: true, cacheTtlSeconds: 3_600 },
    ...{ maxAgentSteps: 100, maxAgentStepsAllowed: 500 },
  }
  expect(limitsOf({ execution })).toMatchObject({
    Steps: '100, a run may ask for up to 500',
    Duration: '2 min',
    Tokens: 'at most 5,000',
    Cost: 'at most $0.50',
    Cache: 'on, for 1 h',
  })
  expect(limitsOf(version)).toMatchObject({ Steps: 'at most 10', Duration: 'no limit of its own' })
})

it('modelSettingsOf names the model and what replaces it, or the variables of a code agent', () => {
  const settings = modelSettingsOf({ ...version, fallbacks: ['a/b'], modelSettings: { temperature: 0 } })
  expect(settings).toMatchObject({
    Model: 'openai/gpt-5-mini',
    'If it is not available': 'a/b',
    Temperature: '0',
    'Must call a tool': null,
  })
  const ofCode = modelSettingsOf({ ...version, code: true, env: ['A', 'B'] })
  expect(ofCode).toEqual({ 'Environment variables': 'A, B' })
})

const published = { id: 'b', status: 'PUBLISHED' as const, retiredAt: null }

it.each([
  ['rollout', { ...published, rollout: { percent: 10 } }],
  ['retired', { ...published, status: 'DRAFT' as const, retiredAt: '2026-11-25T09:00:00.000Z' }],
])('the state of a version is %s', (state, given) => {
  expect(stateOf(given, { currentVersionId: 'c' })).toBe(state)
})

it('a published version is older than a current one that was published later', () => {
  expect(['c', 'a', null].map((current) => isOlder(published, current))).toEqual([true, false, false])
  expect(isOlder({ ...published, status: 'DRAFT' }, 'c')).toBe(false)
})
