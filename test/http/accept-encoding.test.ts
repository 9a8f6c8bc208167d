import { describe, expect, it } from 'vitest'
import { chooseEncoding } from '../../lib/http/accept-encoding.ts'

describe('chooseEncoding', () => {
  it.each([
    [undefined, undefined],
    ['', undefined],
    ['gzip', 'gzip'],
    ['GZIP', 'gzip'],
    ['x-gzip', 'gzip'],
    ['gzip, deflate, br', 'br'],
    ['br;q=0.5, gzip;q=0.8', 'gzip'],
    ['br ; q=0.8 , gzip ; q=0.8', 'br'],
    ['gzip;q=0', undefined],
    ['gzip;q=0.000, br;q=0.0', undefined],
    ['gzip;q=0.001', 'gzip'],
    ['*', 'br'],
    ['*, br;q=0', 'gzip'],
    ['*;q=0, gzip', 'gzip'],
    ['*;q=0', undefined],
    ['identity', undefined],
    ['identity, *;q=0.5', undefined],
    ['identity;q=0.5, gzip;q=1.0', 'gzip'],
    ['identity;q=0, gzip;q=0.1', 'gzip'],
    ['deflate, zstd', undefined],
    ['gzip;q=2', undefined],
    ['gzip;q=', undefined],
    ['gzip;q=high', undefined],
    ['gzipped', undefined],
    [';q=1', undefined],
    [',,gzip,,', 'gzip'],
  ])('%j: %s', (header, expected) => {
    expect(chooseEncoding(header, ['br', 'gzip'])).toBe(expected)
  })

  it('reads a long header in time that grows with its length', () => {
    const header = `${'gzip;q='.repeat(2_000)}${' ;'.repeat(4_000)}`
    expect(chooseEncoding(header, ['gzip'])).toBeUndefined()
  })
})
