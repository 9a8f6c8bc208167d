import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { matchPath, parseHash, toHref, tokenIn, toPath } from '../../../console/state/location.ts'

it.each([
  ['', '/', ''],
  ['#/runs/', '/runs', ''],
  ['#/runs?status=ERROR', '/runs', 'status=ERROR'],
  ['#/runs?tenantId=a%3Fb?c', '/runs', 'tenantId=a%3Fb%3Fc'],
  ['#main', '/', ''],
])('parseHash(%j) has the path %j and the query %j', (hash, path, query) => {
  const location = parseHash(hash)
  expect([location.path, location.query.toString()]).toEqual([path, query])
})

describe('toHref', () => {
  it('leaves out what filters nothing', () => {
    expect(toHref('/runs', { status: 'ERROR', agent: '', from: null, to: undefined, limit: 0 })).toBe(
      '#/runs?status=ERROR&limit=0',
    )
  })

  it('writes what parseHash and matchPath read, whatever the texts are', () => {
    fc.assert(
      fc.property(
        fc.string({ unit: 'grapheme', minLength: 1 }),
        fc.string({ unit: 'grapheme', minLength: 1 }),
        (segment, value) => {
          const { path, query } = parseHash(toHref(toPath('agents', segment), { value }))
          expect(matchPath('/agents/{slug}', path)).toEqual({ slug: segment })
          expect(query.get('value')).toBe(value)
        },
      ),
    )
  })
})

describe('matchPath', () => {
  it('requires the same number of segments', () => {
    expect(matchPath('/runs/{id}', '/runs')).toBeNull()
    expect(matchPath('/runs/{id}', '/runs/1/steps')).toBeNull()
    expect(matchPath('/', '/runs')).toBeNull()
  })

  it('accepts a malformed escape as it is', () => {
    expect(matchPath('/agents/{slug}', '/agents/%E0%A4%A')).toEqual({ slug: '%E0%A4%A' })
  })
})

it('a token is only read from a sign-in link', () => {
  expect(tokenIn('#token=aes_1')).toBe('aes_1')
  expect(tokenIn('#token=aes_1&x=2')).toBe('aes_1')
  expect(tokenIn('#/runs?token=aes_1')).toBeNull()
  expect(tokenIn('')).toBeNull()
})
