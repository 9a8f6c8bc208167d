import { mkdir, readFile, writeFile } from 'node:fs/promises'
import { hostname, userInfo } from 'node:os'
import { join } from 'node:path'
import { v5 } from 'uuid'
import { newToken, verifyToken } from '../lib/access/tokens.ts'
import type { Actor, AuditSource } from '../lib/core/audit.ts'
import { toShown } from '../lib/core/audit-request.ts'
import { DEFAULT_WEBHOOK } from '../lib/core/notification.ts'
import type { OrganizationStore, TokenStore } from '../lib/core/ports/access.ts'
import { system } from '../lib/system.ts'
import { ensureSigningSecret } from '../lib/tools/egress/sign-webhook.ts'
import { DEV_TOKEN_FILE, WEBHOOK_SECRET_FILE } from './data-folder.ts'

/** The organization of local use. Its id is constant, so that every start finds it. */
export const DEVELOPMENT_ORGANIZATION = { id: '0d3c6b3e-8a53-4c1e-9c2b-5a1f0e6d7c48', name: 'Development' }

/** The `createdBy` of local commands: a UUID that identifies the user of this machine. */
export const operatorId = (): string => v5(`operator/${userName()}`, DEVELOPMENT_ORGANIZATION.id)

/** In a container, the user may have no name. */
export function userName(): string {
  try {
    return userInfo().username
  } catch {
    return String(process.getuid?.())
  }
}

/** The ARN of a role with a session may be longer than other texts. */
export const MAX_ACTOR_CHARACTERS = 300

/** Who makes a change on the local table, and from where, as the audit log says it. */
export function localUser(): { actor: Actor; source: AuditSource } {
  const host = toShown(hostname())
  return {
    actor: { kind: 'cli', id: toShown(`${userName()}@${host}`, MAX_ACTOR_CHARACTERS) },
    source: { interface: 'CLI', host },
  }
}

export async function ensureDevelopmentOrganization(organizations: OrganizationStore): Promise<void> {
  const createdAt = new Date(system.now()).toISOString()
  await organizations.create({ organization: { ...DEVELOPMENT_ORGANIZATION, createdAt } })
}

/** The webhook store of an organization that signs requests to remote agents. */
type Signing = Parameters<typeof ensureSigningSecret>[0]

/**
 * Gives an organization of this machine its default webhook secret, and keeps it in the data folder, readable by its
 * owner only, so that a remote agent can verify requests.
 */
export async function ensureDevelopmentSecret(
  webhooks: Signing,
  folder: string,
  organizationId: string = DEVELOPMENT_ORGANIZATION.id,
): Promise<void> {
  const file = join(folder, WEBHOOK_SECRET_FILE)
  const kept = (await readFile(file, 'utf8').catch(() => '')).trim()
  const given = kept === '' ? {} : { secret: kept }
  await ensureSigningSecret(webhooks, { organizationId, now: system.now(), ...given })
  const [current] = await webhooks.getSecrets({ organizationId, id: DEFAULT_WEBHOOK })
  if (!current || current.secret === kept) return
  await mkdir(folder, { recursive: true, mode: 0o700 })
  await writeFile(file, `${current.secret}\n`, { mode: 0o600 })
}

/**
 * A valid token of the development organization: `DEV_TOKEN` if given, otherwise the one of the last start, otherwise a
 * new one. It is stored in the data folder, readable by its owner only, so that scripts survive a restart.
 * @throws an Error when `DEV_TOKEN` is revoked or expired
 */
export async function ensureDevelopmentToken(
  tokens: TokenStore,
  folder: string,
  devToken?: string,
): Promise<string> {
  const file = join(folder, DEV_TOKEN_FILE)
  const text = devToken ?? (await readFile(file, 'utf8').catch(() => '')).trim()
  const isValid = text !== '' && (await verifyToken(tokens, `Bearer ${text}`, system.now())) !== null
  if (isValid) return text
  const created = newToken({
    system,
    organizationId: DEVELOPMENT_ORGANIZATION.id,
    name: 'development',
    createdBy: operatorId(),
    lifetimeMs: null,
    text: devToken,
  })
  if (!(await tokens.create({ token: created.token }))) {
    throw new Error('The token in DEV_TOKEN is revoked or expired. Choose another one.')
  }
  if (!devToken) await writeFile(file, `${created.text}\n`, { mode: 0o600 })
  return created.text
}
