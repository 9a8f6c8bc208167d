import { describe, expect, it } from 'vitest'
import { newToken } from '../../../lib/access/tokens.ts'
import { system } from '../../../lib/system.ts'
import { OPTION_SETS } from '../all-options.ts'
import { synthesize } from '../synthesize.ts'
import { readDefinition } from './read-definition.ts'

const template = synthesize()

describe('the tokens that reach the authorizer', () => {
  const { token } = readDefinition(template).components.securitySchemes
  const pattern = new RegExp(token['x-amazon-apigateway-authorizer'].identityValidationExpression)
  const createToken = () =>
    newToken({ system, organizationId: '', name: '', createdBy: '', lifetimeMs: null }).text

  it('are those that newToken generates', () => {
    for (const scheme of ['Bearer ', 'bearer ', 'BEARER ', 'Bearer  '])
      for (let i = 0; i < 100; i += 1) expect(`${scheme}${createToken()}`).toMatch(pattern)
  })

  it.each([
    '',
    'Bearer ',
    createToken(),
    `Basic ${createToken()}`,
    `Bearer ${createToken().slice(0, -1)}`,
    `Bearer ${createToken()}x`,
    `Bearer ${createToken()}\n`,
    `Bearer ${createToken().replace('aes_', 'sk-')}`,
    `x Bearer ${createToken()}`,
    'Bearer eyJhbGciOiJIUzI1NiJ9.e30.ZRrHA1JJJW8opsbCGfG_HACGpVUMN_a9IV7pAx_Zmeo',
  ])('do not include %j', (header) => {
    expect(header).not.toMatch(pattern)
  })
})

describe('with an identity provider', () => {
  const { token } = readDefinition(synthesize(OPTION_SETS['every option'])).components.securitySchemes
  const pattern = new RegExp(token['x-amazon-apigateway-authorizer'].identityValidationExpression)
  const jwt = 'eyJhbGciOiJSUzI1NiJ9.eyJzdWIiOiJhZGEifQ.c2lnbmF0dXJl-_'
  const apiToken = newToken({ system, organizationId: '', name: '', createdBy: '', lifetimeMs: null }).text

  it('JSON Web Tokens reach the authorizer too, also large ones', () => {
    const large = `eyJ${'a'.repeat(4_000)}.${'b'.repeat(4_000)}.${'c'.repeat(180)}`
    for (const token of [jwt, large, apiToken])
      for (const scheme of ['Bearer ', 'bearer  ']) expect(`${scheme}${token}`).toMatch(pattern)
  })

  it.each([
    jwt,
    `Basic ${jwt}`,
    `Bearer ${jwt}.encrypted.x`,
    `Bearer ${jwt.slice(0, jwt.lastIndexOf('.'))}`,
    'Bearer eyJh..x',
    `Bearer ${jwt} ${jwt}`,
    `Bearer ${apiToken}|${jwt}`,
    `Bearer ${jwt}\n`,
    `x\nBearer ${jwt}`,
    '',
  ])('%j does not', (header) => {
    expect(header).not.toMatch(pattern)
  })
})
