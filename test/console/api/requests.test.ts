import { describe, expect, it } from 'vitest'
import { describeChange } from '../../../console/api/agent-changes.ts'
import { ApiError, withLabels } from '../../../console/api/api-error.ts'
import { basePathOf, nextQueryOf } from '../../../console/api/request.ts'

const FIRST = '01a20000-0000-7000-8000-000000000001'
const SECOND = '01a20000-0000-7000-8000-000000000002'
const time = '2026-11-25T09:00:00.000Z'
const agent = { archivedAt: null, currentVersionId: FIRST, rollout: null }
const archived = { ...agent, archivedAt: time }
const promoted = { ...agent, currentVersionId: SECOND }
const rollout = { versionId: SECOND, percent: 10, key: 'tenant' as const, startedAt: time, updatedAt: time }
const running = { ...agent, rollout }
const changed = { ...agent, rollout: { ...rollout, percent: 50, updatedAt: '2026-11-25T10:00:00.000Z' } }

it.each([
  [running, { ...agent, rollout: { ...rollout } }, null],
  [running, promoted, 'The version 01a20000…0002 has become current. The rollout has ended.'],
  [agent, archived, 'The agent has been archived.'],
  [archived, agent, 'The agent has been restored.'],
  [agent, running, 'A rollout of the version 01a20000…0002 has started.'],
  [running, changed, 'The rollout has changed: 01a20000…0002 gets 50%.'],
  [running, agent, 'The rollout has ended.'],
])('describes what has changed about an agent (%#)', (before, after, text) => {
  expect(describeChange(before, after)).toBe(text)
})

const LABELS = { url: 'URL', allowedHosts: 'Allowed hosts', tools: 'Tools' }
const labelled = (message: string) =>
  withLabels(new ApiError(message, { status: 422, code: 'InputSchemaMismatch' }), LABELS).message

describe('withLabels', () => {
  it.each([
    ['/url must be a URL such as https://a.example/b.', '“URL” must be a URL such as https://a.example/b.'],
    ['/url is missing. /tools/a/b must be "recorded".', '“URL” is missing. “Tools” must be "recorded".'],
    [
      'It must start with https:// unless allowedHosts contains "a".',
      'It must start with https:// unless “Allowed hosts” contains "a".',
    ],
    ['/constructor must be a number.', '/constructor must be a number.'],
  ])('%s', (message, expected) => {
    expect(labelled(message)).toBe(expected)
  })

  it('keeps all else, and labels each of several errors', () => {
    const problem = {
      ...{ type: 'about:blank', title: 'Invalid', status: 422, detail: 'x', instance: 'r', code: 'Y' },
      errors: [{ path: '/url', message: '/url is missing.' }],
    }
    const error = new ApiError('x', { status: 422, code: 'Y', problem, retryAfter: 3 })
    expect(withLabels(error, LABELS)).toMatchObject({
      ...{ status: 422, code: 'Y', retryAfter: 3 },
      problem: { title: 'Invalid', errors: [{ path: '/url', message: '“URL” is missing.' }] },
    })
  })
})

it.each([
  ['/console', ''],
  ['/console/', ''],
  ['/prod/console', '/prod'],
  ['/agents/eu/console', '/agents/eu'],
  ['/console/console', '/console'],
  ['/', ''],
])('the API of the page %j is at %j', (pathname, basePath) => {
  expect(basePathOf(pathname)).toBe(basePath)
})

it.each([
  [null, null],
  ['</v1/agents?limit=1>; rel="prev"', null],
  ['</v1/agents?limit=1>; rel="next-archive"', null],
  ['</v1/agents?limit=1&cursor=Mg>; rel="next"', 'limit=1&cursor=Mg'],
  ['</live/v1/agents?cursor=Mg>;rel=next', 'cursor=Mg'],
  ['</v1/agents>; rel="next"', ''],
  ['</v1/a?cursor=1>; rel="prev", </v1/a?cursor=2>; title="a, b"; rel="last next"', 'cursor=2'],
])('the next page of the Link header %j', (header, query) => {
  expect(nextQueryOf(header)?.toString() ?? null).toBe(query)
})
