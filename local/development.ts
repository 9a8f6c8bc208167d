import { readFile, writeFile } from 'node:fs/promises'
import { userInfo } from 'node:os'
import { join } from 'node:path'
import { v5 } from 'uuid'
import type { OrganizationStore, TokenStore } from '../lib/core/ports.ts'
import { system } from '../lib/system.ts'
import { isTokenFormat, newToken, verifyToken } from '../lib/tokens/token.ts'

/** The organization of this machine, always the same so that every start finds it. */
export const DEVELOPMENT_ORGANIZATION = { id: '0d3c6b3e-8a53-4c1e-9c2b-5a1f0e6d7c48', name: 'Development' }

/** Stands for the person at this machine or in CI wherever a creator's UUID is asked for. */
export const operatorId = (): string => v5(`operator/${userName()}`, DEVELOPMENT_ORGANIZATION.id)

/** A container may run as a user that the system has no name for. */
function userName(): string {
  try {
    return userInfo().username
  } catch {
    return String(process.getuid?.())
  }
}

export async function ensureDevelopmentOrganization(organizations: OrganizationStore): Promise<void> {
  const createdAt = new Date(system.now()).toISOString()
  await organizations.create({ organization: { ...DEVELOPMENT_ORGANIZATION, createdAt } })
}

/**
 * A token of the development organization that works: `DEV_TOKEN` when given, else the one of the last start, else a
 * new one. It is kept in the data folder, readable by its owner only, so that scripts outlive a restart.
 */
export async function ensureDevelopmentToken(
  tokens: TokenStore,
  folder: string,
  wanted?: string,
): Promise<string> {
  if (wanted && !isTokenFormat(wanted))
    throw new Error('DEV_TOKEN may hold letters, digits and ._~+/=- only, at most 200.')
  const file = join(folder, 'dev-token')
  const text = wanted ?? (await readFile(file, 'utf8').catch(() => '')).trim()
  const isValid = text !== '' && (await verifyToken(tokens, `Bearer ${text}`, system.now())) !== null
  if (isValid) return text
  const created = newToken({
    system,
    organizationId: DEVELOPMENT_ORGANIZATION.id,
    name: 'development',
    createdBy: operatorId(),
    lifetimeMs: null,
    text: wanted,
  })
  if (!(await tokens.create({ token: created.token }))) {
    throw new Error('The token of DEV_TOKEN was revoked or has expired. Choose another one.')
  }
  if (!wanted) await writeFile(file, `${created.text}\n`, { mode: 0o600 })
  return created.text
}
