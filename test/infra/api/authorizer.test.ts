import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, expect, inject, it } from 'vitest'
import { newToken } from '../../../lib/access/tokens.ts'
import { tokenStore } from '../../../lib/dynamodb/access-stores.ts'
import { openTable } from '../../../lib/dynamodb/table/table.ts'
import { system } from '../../../lib/system.ts'
import { ensureDevelopmentToken } from '../../../local/development.ts'
import { LOCAL_TABLE } from '../../../local/emulators/provision.ts'
import { synthesize } from '../synthesize.ts'
import { readDefinition } from './read-definition.ts'

const template = synthesize()

describe('the tokens that reach the authorizer', () => {
  const { token } = readDefinition(template).components.securitySchemes
  const pattern = new RegExp(token['x-amazon-apigateway-authorizer'].identityValidationExpression)
  const createToken = () =>
    newToken({ system, organizationId: '', name: '', createdBy: '', lifetimeMs: null }).text

  it.each(['Bearer ', 'bearer ', 'BEARER ', 'Bearer  '])(
    'are those that newToken generates: "%s…"',
    (scheme) => {
      for (let i = 0; i < 1_000; i += 1) expect(`${scheme}${createToken()}`).toMatch(pattern)
    },
  )

  it('are those of docs/cli.md', () => {
    const page = readFileSync(new URL('../../../docs/cli.md', import.meta.url), 'utf8')
    const [token] = /^aes_\w+$/m.exec(page) ?? []
    expect(`Bearer ${token}`).toMatch(pattern)
  })

  it('include the development token', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'aes-token-'))
    const tokens = tokenStore(openTable({ TABLE_NAME: LOCAL_TABLE, DYNAMODB_ENDPOINT: inject('dynamodb') }))
    const token = await ensureDevelopmentToken(tokens, folder)
    rmSync(folder, { recursive: true })
    expect(`Bearer ${token}`).toMatch(pattern)
  })

  it.each([
    '',
    'Bearer',
    'Bearer ',
    createToken(),
    `Basic ${createToken()}`,
    `Bearer ${createToken().slice(0, -1)}`,
    `Bearer ${createToken()}x`,
    `Bearer ${createToken()} x`,
    `Bearer ${createToken()}\n`,
    `Bearer ${createToken().replace('aes_', 'sk-')}`,
    `Bearer ${createToken().slice(0, -1)}-`,
    `x Bearer ${createToken()}`,
    'Bearer eyJhbGciOiJIUzI1NiJ9.e30.ZRrHA1JJJW8opsbCGfG_HACGpVUMN_a9IV7pAx_Zmeo',
  ])('do not include %j', (header) => {
    expect(header).not.toMatch(pattern)
  })
})

describe('with an identity provider', () => {
  const { token } = readDefinition(
    synthesize({
      oidcIssuer: 'https://login.example.com',
      oidcAudience: 'agents',
      oidcMapping: '{"organization":"0d3c6b3e-8a53-4c1e-9c2b-5a1f0e6d7c48","scopes":["run"]}',
    }),
  ).components.securitySchemes
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
    `Bearer ${jwt.slice(0, jwt.lastIndexOf('.') + 1)}`,
    'Bearer a.b.c',
    'Bearer eyJh..x',
    `Bearer ${jwt} ${jwt}`,
    `Bearer ${jwt}, Bearer ${apiToken}`,
    `Bearer ${apiToken}|${jwt}`,
    `Bearer ${jwt}=`,
    `Bearer ${jwt}\n`,
    `x\nBearer ${jwt}`,
    '',
  ])('%j does not', (header) => {
    expect(header).not.toMatch(pattern)
  })
})
