import { describe, expect, it } from 'vitest'
import { chooseEncoding, chooseMediaType } from '../../lib/http/negotiation.ts'

describe('chooseEncoding', () => {
  it.each([
    [undefined, undefined],
    ['', undefined],
    ['gzip', 'gzip'],
    ['GZIP', 'gzip'],
    ['gzip, deflate, br', 'br'],
    ['br;q=0.5, gzip;q=0.8', 'gzip'],
    ['br ; q=0.8 , gzip ; q=0.8', 'br'],
    ['gzip;q=0', undefined],
    ['gzip;q=0.001', 'gzip'],
    ['*', 'br'],
    ['*, br;q=0', 'gzip'],
    ['*;q=0, gzip', 'gzip'],
    ['*;q=0', undefined],
    ['identity', undefined],
    ['identity, *;q=0.5', undefined],
    ['identity;q=0, gzip;q=0.1', 'gzip'],
    ['deflate, zstd', undefined],
    ['gzip;q=2', undefined],
    [';q=1', undefined],
  ])('%j: %s', (header, expected) => {
    expect(chooseEncoding(header, ['br', 'gzip'])).toBe(expected)
  })

  it('reads a long header in time that grows with its length', () => {
    const header = `${'gzip;q='.repeat(2_000)}${' ;'.repeat(4_000)}`
    expect(chooseEncoding(header, ['gzip'])).toBeUndefined()
  })
})

describe('chooseMediaType', () => {
  it.each([
    [undefined, 'application/json'],
    ['', 'application/json'],
    ['*/*', 'application/json'],
    ['application/json', 'application/json'],
    ['text/csv', 'text/csv'],
    ['text/*', 'text/csv'],
    ['text/csv; charset=utf-8', 'text/csv'],
    ['text/csv, application/json', 'application/json'],
    ['text/csv, application/json;q=0.9', 'text/csv'],
    ['text/csv;q=0.5, application/json', 'application/json'],
    ['text/csv;q=0.5, */*;q=0.1', 'text/csv'],
    ['*/*, application/json;q=0.5', 'text/csv'],
    ['application/*;q=0, */*', 'text/csv'],
    ['text/csv;q=0', 'application/json'],
    ['text/csv;q=0, */*', 'application/json'],
    ['application/json;q=0, text/csv;q=0', 'application/json'],
    ['image/png', 'application/json'],
  ])('%j: %s', (header, expected) => {
    expect(chooseMediaType(header, ['application/json', 'text/csv'])).toBe(expected)
  })

  it('reads a long header in time that grows with its length', () => {
    const header = `${'text/csv;q='.repeat(2_000)}${' ;'.repeat(4_000)}${',text/csv'.repeat(2_000)}`
    expect(chooseMediaType(header, ['application/json', 'text/csv'])).toBe('application/json')
  })
})
