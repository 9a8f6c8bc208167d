import { describe, expect, it } from 'vitest'
import { LINEAR_FORMATS } from '../../../lib/schema/validate/formats.ts'

describe('the format url', () => {
  it.each([
    ['https://example.com', true],
    ['http://user:pass@example.co.uk:8080/a?b#c', true],
    ['ftp://my-host.example', true],
    ['https://münchen.example/ä', true],
    ['http://93.184.216.34/', true],
    ['http://10.0.0.1/', false],
    ['http://localhost', false],
    ['http://a--b.example', false],
    ['http://-a.example', false],
    ['http://a-.example', false],
    ['example.com', false],
    ['http://a.example:1', false],
  ])('accepts %s: %s', (text, isValid) => expect(LINEAR_FORMATS.url?.(text)).toBe(isValid))
})
