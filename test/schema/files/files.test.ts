import { describe, expect, it } from 'vitest'
import type { Json, JsonObject } from '../../../lib/core/json/json.ts'
import { compileAdapter } from '../../../lib/schema/adapt/adapt-input.ts'
import { checkDeclaredSchema } from '../../../lib/schema/check-declared-schema.ts'
import { toJsonSchema } from '../../../lib/schema/field-map.ts'
import { checkFiles } from '../../../lib/schema/files/check-files.ts'
import { compileFileMapper, findFiles } from '../../../lib/schema/files/map-files.ts'
import { writeTypeScriptModule } from '../../../lib/schema/types/agent-types.ts'
import { compileStrictValidator } from '../../../lib/schema/validate/validate.ts'
import { IMAGE, PDF, pdfOf } from '../../support/data/files.ts'

const field = (type: JsonObject = {}) => ({ document: { type: 'file', ...type } }) as unknown as JsonObject
const list = { documents: { type: 'array', items: { type: 'file' } } } as unknown as JsonObject

/** What an agent receives, and what is wrong with its files. */
function receive(declared: JsonObject, sent: JsonObject) {
  const { input, adaptations } = compileAdapter(declared)(sent)
  const violations = checkFiles(findFiles(compileFileMapper(declared), input))
  return { input, adaptations, messages: violations.map(({ message }) => message) }
}

const MUST_BE_FILE = '/document must be a file: { mediaType, data } with data in base64, or a data URL.'

describe('a field of type file', () => {
  it('is an object with a media type and base64 in JSON Schema', () => {
    const declared = field({ description: 'An invoice.', mediaTypes: ['image/png'], maxBytes: 100 })
    expect(toJsonSchema(declared).properties).toEqual({
      document: {
        type: 'object',
        description: 'An invoice.',
        properties: {
          mediaType: { type: 'string', enum: ['image/png'] },
          data: { type: 'string', contentEncoding: 'base64', maxBytes: 100 },
        },
        required: ['mediaType', 'data'],
        additionalProperties: false,
      },
    })
    expect(compileStrictValidator(field())({ document: PDF })).toEqual([])
  })

  it('is an object in the types of an agent', () => {
    const inputSchema = field({ mediaTypes: ['image/png'] })
    const agent = { slug: 'read', description: null, inputSchema, outputSchema: {} }
    expect(writeTypeScriptModule([agent])).toContain("mediaType: 'image/png'\n    data: string")
  })

  it('is unchanged if it is valid', () => {
    const sent = { document: PDF }
    expect(receive(field(), sent)).toEqual({ input: sent, adaptations: [], messages: [] })
  })

  it.each<[string, Json]>([
    ['a data URL', `data:application/pdf;base64,${PDF.data}`],
    ['a data URL with parameters', `data:application/pdf;name=a.pdf;base64,${PDF.data}`],
    ['a data URL without a type', `data:;base64,${PDF.data}`],
    ['base64 of a type that the field accepts', PDF.data],
    ['base64 in lines', PDF.data.replace(/.{20}/g, '$&\r\n')],
    ['a list of one', [PDF]],
    ['JSON in a text', JSON.stringify(PDF)],
    ['no type', { data: PDF.data }],
    ['other names and case', { media_type: 'Application/PDF', Data: PDF.data }],
    ['base64 in lines in an object', { ...PDF, data: ` ${PDF.data.replace(/.{20}/g, '$&\n')}\n` }],
    [
      'the URL-safe alphabet without padding',
      { ...PDF, data: Buffer.from(PDF.data, 'base64').toString('base64url') },
    ],
    ['a data URL in an object', { ...PDF, data: `data:application/pdf;base64,${PDF.data}` }],
  ])('is read from %s, which is recorded', (_, document) => {
    const { input, adaptations, messages } = receive(field(), { document })
    expect({ input, messages }).toEqual({ input: { document: PDF }, messages: [] })
    expect(adaptations).not.toHaveLength(0)
    expect(JSON.stringify(adaptations)).not.toContain('JVBER')
    expect(compileAdapter(field())(input).adaptations).toEqual([])
  })

  it('reads image/jpg as image/jpeg', () => {
    const data = Buffer.from([0xff, 0xd8, 0xff, 0xe0, 0, 0]).toString('base64')
    const { input } = receive(field(), { document: { mediaType: 'image/jpg', data } })
    expect(input).toEqual({ document: { mediaType: 'image/jpeg', data } })
  })

  it('accepts a single file for a list', () => {
    for (const documents of [PDF, `data:application/pdf;base64,${PDF.data}`] as Json[])
      expect(receive(list, { documents })).toMatchObject({ input: { documents: [PDF] }, messages: [] })
  })

  const mismatch = (type: string, found: string) =>
    `/document/data must be a file of type ${type}, but starts like ${found}.`
  it.each<[string, Json, string]>([
    ['a text', 'the invoice of May', MUST_BE_FILE],
    ['a number', 7, MUST_BE_FILE],
    ['a URL', 'https://example.com/a.pdf', MUST_BE_FILE],
    ['base64 of a type that is not known', 'UEsDBA==', MUST_BE_FILE],
    ['a data URL that is no base64', 'data:application/pdf,%25PDF', MUST_BE_FILE],
    ['no data', { mediaType: 'application/pdf' }, '/document/data is required.'],
    ['invalid base64', { ...PDF, data: `${PDF.data}!` }, '/document/data must be valid base64.'],
    ['truncated base64', { ...PDF, data: 'JVBER' }, '/document/data must be valid base64.'],
    ['bytes instead of base64', { ...PDF, data: [37, 80] }, '/document/data must be valid base64.'],
    ['no bytes', { ...PDF, data: '' }, '/document/data must not be empty.'],
    ['an image that is called a PDF', { ...PDF, data: IMAGE.data }, mismatch('application/pdf', 'image/png')],
    ['a PDF that is called an image', { ...IMAGE, data: PDF.data }, mismatch('image/png', 'application/pdf')],
    [
      'another type that is called a PDF',
      { ...PDF, data: Buffer.from('MZ executable').toString('base64') },
      mismatch('application/pdf', 'another type'),
    ],
    [
      'a type that no model reads',
      { mediaType: 'application/zip', data: 'UEsDBA==' },
      '/document/mediaType must be application/pdf, image/png, image/jpeg, image/gif or image/webp.',
    ],
    [
      'two types that contradict each other',
      { mediaType: 'image/png', data: `data:application/pdf;base64,${PDF.data}` },
      '/document/data must be valid base64.',
    ],
  ])('reports %s', (_, document, message) => {
    expect(receive(field(), { document }).messages).toEqual([message])
  })

  it('has a limit of bytes, which images cannot exceed', () => {
    const messagesOf = (document: Json, type = {}) => receive(field(type), { document }).messages
    const tooLarge = (most: number, bytes: number) =>
      `/document/data must be a file of at most ${most} bytes, but has ${bytes}.`
    expect(messagesOf(PDF, { maxBytes: 40 })).toEqual([])
    expect(messagesOf({ ...PDF, data: pdfOf(41) }, { maxBytes: 40 })).toEqual([tooLarge(40, 41)])
    const png = Buffer.concat([Buffer.from(IMAGE.data, 'base64'), Buffer.alloc(3_750_000)]).toString('base64')
    expect(messagesOf({ ...IMAGE, data: png })).toEqual([tooLarge(3_750_000, 3_750_070)])
    expect(messagesOf({ ...PDF, data: pdfOf(4_500_001) })).toHaveLength(1)
    expect(messagesOf({ ...PDF, data: pdfOf(4_500_000) })).toEqual([])
  })

  it('has a limit of files', () => {
    expect(receive(list, { documents: Array(20).fill(IMAGE) }).messages).toEqual([])
    expect(receive(list, { documents: Array(50).fill(IMAGE) }).messages).toEqual([
      'The value must have at most 20 files, but has 50.',
    ])
    expect(receive(list, { documents: Array(6).fill(PDF) }).messages).toEqual([
      'The value must have at most 5 files of type application/pdf, but has 6.',
    ])
  })

  it('may be omitted or null where the schema says so', () => {
    const optional = field({ required: false })
    for (const sent of [{}, { document: null }, { document: '' }])
      expect(receive(optional, sent)).toMatchObject({ input: {}, messages: [] })
  })
})

describe('files of a JSON Schema', () => {
  const file = { ...(toJsonSchema(field({ mediaTypes: ['application/pdf'] })).properties as JsonObject) }
    .document
  const schema = (properties: JsonObject) => ({ type: 'object', properties, $defs: { file } }) as JsonObject

  it('are found through references, lists and null', () => {
    const declared = schema({
      a: { $ref: '#/$defs/file' },
      b: { type: 'array', items: { $ref: '#/$defs/file' } },
      c: { anyOf: [{ $ref: '#/$defs/file' }, { type: 'null' }] },
    } as JsonObject)
    expect(checkDeclaredSchema(declared, { allowsFiles: true })).toEqual([])
    const input = { a: PDF, b: [PDF], c: PDF }
    const paths = findFiles(compileFileMapper(declared), input).map(({ path }) => path.join('/'))
    expect(paths).toEqual(['a', 'b/0', 'c'])
    expect(receive(declared, { ...input, c: null }).messages).toEqual([])
    expect(receive(declared, { a: 'no file' }).messages).toHaveLength(1)
  })

  it('are rejected by publish where the service would not find them', () => {
    const alternatives = schema({ a: { anyOf: [file, { type: 'string' }] } } as JsonObject)
    expect(checkDeclaredSchema(alternatives, { allowsFiles: true })).toMatchObject([
      { path: ['properties', 'a', 'anyOf', '0'], message: expect.stringContaining('would not find') },
    ])
  })
})

describe('checkDeclaredSchema', () => {
  it.each<[JsonObject, string, string]>([
    [{ type: 'file', default: 'x' }, 'default', 'must be omitted for type: file'],
    [{ type: 'file', enum: ['x'] }, 'enum', 'must be omitted for type: file'],
    [{ type: 'string', maxBytes: 5 }, 'maxBytes', 'requires type: file'],
    [{ type: 'file', maxLength: 5 }, 'maxLength', 'requires type: string'],
  ])('rejects %j', (document, keyword, message) => {
    const problems = checkDeclaredSchema({ document }, { allowsFiles: true })
    expect(problems).toContainEqual({ path: ['document', keyword], message })
  })

  it('rejects files anywhere but in an input', () => {
    const message = '"file" is possible only in the input of an agent'
    expect(checkDeclaredSchema(field())).toEqual([{ path: ['document', 'type'], message }])
  })
})
