import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { matchPath, parseHash, toHref, tokenIn, toPath } from '../../../console/state/location.ts'
import { formKey, ownerKey, TypedValues } from '../../../console/state/typed-values.ts'
import { aStorage } from './a-storage.ts'

const OWNER = { organizationId: 'o1', tenantId: null }

describe('TypedValues', () => {
  it('has what was typed into a form, for its owner and by its name', () => {
    const storage = aStorage()
    new TypedValues(storage, () => 1).write(formKey(OWNER, 'webhook'), { url: 'a' })
    const values = new TypedValues(storage)
    expect(values.read(formKey(OWNER, 'webhook'))).toEqual({ url: 'a', at: 1 })
    for (const key of [
      formKey(OWNER, 'webhook '),
      formKey({ ...OWNER, organizationId: 'o2' }, 'webhook'),
      formKey({ ...OWNER, tenantId: 'acme' }, 'webhook'),
      formKey({ ...OWNER, tenantId: '' }, 'webhook'),
      formKey({ organizationId: 'o1/', tenantId: null }, 'webhook'),
    ])
      expect(values.read(key)).toBeNull()
  })

  it('forgets forms when their user signs out, not the inputs of Try it', () => {
    const values = new TypedValues(aStorage())
    values.write(formKey(OWNER, 'webhook'), { url: 'a' })
    values.write(ownerKey(OWNER, 'agent', ''), { text: 'b' })
    values.forgetForms()
    expect(values.read(formKey(OWNER, 'webhook'))).toBeNull()
    expect(values.read(ownerKey(OWNER, 'agent', ''))).toMatchObject({ text: 'b' })
  })
})

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
