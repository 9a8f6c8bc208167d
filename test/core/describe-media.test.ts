import { describe, expect, it } from 'vitest'
import { describeFile, describeMedia } from '../../lib/core/describe-media.ts'
import { ExactNumber } from '../../lib/core/json/exact-number.ts'
import type { Json, JsonObject } from '../../lib/core/json/json.ts'
import { PDF, pdfOf } from '../support/data/files.ts'

const described = { mediaType: 'application/pdf', bytes: 40, sha256: expect.stringMatching(/^[0-9a-f]{16}$/) }

describe('describeFile', () => {
  it('has the size and a hash in place of the data, and other members', () => {
    expect(describeFile({ ...PDF, name: 'May.pdf' })).toEqual({ ...described, name: 'May.pdf' })
    expect(describeFile({ ...PDF, data: pdfOf(41) })).not.toEqual(describeFile(PDF))
    expect(describeFile('x')).toBe('x')
  })
})

describe('describeMedia', () => {
  it('describes files and data URLs at every level, the same as each other', () => {
    const url = `data:application/pdf;base64,${PDF.data}`
    const value = { a: PDF, b: [PDF, { c: url }], d: 'text', e: null } as unknown as JsonObject
    expect(describeMedia(value)).toEqual({
      a: described,
      b: [described, { c: described }],
      d: 'text',
      e: null,
    })
    expect(describeMedia(url)).toEqual(describeFile(PDF))
  })

  it.each<[Json]>([
    [{ mediaType: 'image/png', data: 'see attachment' }],
    [{ mediaType: 'text/plain', data: PDF.data }],
    [{ data: PDF.data }],
    ['data:text/plain,Hello'],
    [new ExactNumber('1e400') as unknown as Json],
  ])('changes nothing else: %j', (value) => expect(describeMedia(value)).toEqual(value))
})
