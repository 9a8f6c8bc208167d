import { describe, expect, it } from 'vitest'
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
