import { describe, expect, it } from 'vitest'
import { parseRetryAfter } from '../../../lib/models/errors/retry-after.ts'

const NOW = Date.parse('2026-11-21T08:00:00Z')

describe('parseRetryAfter', () => {
  it.each([
    [undefined, null],
    [{}, null],
    [{ 'retry-after': '7' }, 7_000],
    [{ 'retry-after': ' 0 ' }, 0],
    [{ 'retry-after': '1.5' }, 1_500],
    [{ 'retry-after': '120' }, 120_000],
    [{ 'retry-after-ms': '250', 'retry-after': '7' }, 250],
    [{ 'retry-after-ms': 'soon', 'retry-after': '7' }, 7_000],
    [{ 'retry-after': 'Sat, 21 Nov 2026 08:00:30 GMT' }, 30_000],
    [{ 'retry-after': 'Sat, 21 Nov 2026 07:00:00 GMT' }, 0],
    [{ 'retry-after': '-5' }, null],
    [{ 'retry-after': '' }, null],
    [{ 'retry-after': 'tomorrow' }, null],
    [{ 'retry-after': '9'.repeat(400) }, null],
  ])('parses %j to %s', (headers, expected) => {
    expect(parseRetryAfter(headers, NOW)).toBe(expected)
  })
})
