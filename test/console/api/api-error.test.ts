import { describe, expect, it } from 'vitest'
import { ApiError, withLabels } from '../../../console/api/api-error.ts'

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
