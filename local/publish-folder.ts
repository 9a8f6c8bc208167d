import { existsSync } from 'node:fs'
import { readdir, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { DOCUMENT_FILE } from '../lib/agents/document-file.ts'
import { agentIdOf } from '../lib/core/ids.ts'
import type { AgentStore } from '../lib/core/ports.ts'
import { system } from '../lib/system.ts'
import { DEVELOPMENT_ORGANIZATION, operatorId } from './development.ts'
import { fingerprintOf, outsideOf } from './source-hash.ts'

export type Published = { slug: string; isNew: boolean }

/** How an agent's folder was when it was last published: `sources` lie outside of it. */
type Known = { slug: string; digest: string; sources: string[]; fingerprint: string }

/**
 * Publishes every agent below a folder whose document or code differs from its current version. Those whose files are
 * as they were at the last start are neither checked nor bundled, and the bundler is not even loaded.
 * @param memory the file that keeps how they were
 * @throws an Error that lists what is wrong with the documents
 */
export async function publishFolder(store: AgentStore, folder: string, memory: string): Promise<Published[]> {
  const entries = existsSync(folder) ? await readdir(folder) : []
  const folders = entries
    .map((name) => join(folder, name))
    .filter((path) => existsSync(join(path, DOCUMENT_FILE)))
  const known = await recall(memory)
  const results = await Promise.all(
    folders.map(async (path) => (await unchanged(store, path, known[path])) ?? publish(store, path)),
  )
  if (results.some(({ isChecked }) => isChecked)) {
    const { stopBundler } = await import('../lib/agents/bundle-code.ts')
    await stopBundler()
    const now = Object.fromEntries(results.map((result, index) => [folders[index], result.known]))
    await writeFile(memory, JSON.stringify(now))
  }
  return results.map(({ known: { slug }, isNew }) => ({ slug, isNew }))
}

type Result = { known: Known; isNew: boolean; isChecked: boolean }

/** Null when it has to be looked at. */
async function unchanged(
  store: AgentStore,
  folder: string,
  known: Known | undefined,
): Promise<Result | null> {
  if (!known || (await fingerprintOf(folder, known.sources)) !== known.fingerprint) return null
  const isCurrent = (await currentDigest(store, known.slug)) === known.digest
  return isCurrent ? { known, isNew: false, isChecked: false } : null
}

async function publish(store: AgentStore, folder: string): Promise<Result> {
  const { loadFolder } = await import('../lib/agents/load-folder.ts')
  const { agent, problems } = await loadFolder(folder)
  if (!agent)
    throw new Error(problems.map((p) => `${p.file}:${p.line}: ${p.field ?? ''} ${p.message}`).join('\n'))
  const { digest, document } = agent
  const sources = outsideOf(folder, agent.sources)
  const fingerprint = await fingerprintOf(folder, sources)
  const known = { slug: document.slug, digest, sources, fingerprint }
  const isNew = (await currentDigest(store, document.slug)) !== digest
  if (isNew) {
    const { publishAgent } = await import('../lib/agents/publish-agent.ts')
    const organizationId = DEVELOPMENT_ORGANIZATION.id
    await publishAgent({ store, system, organizationId, createdBy: operatorId(), agent, draft: false })
  }
  return { known, isNew, isChecked: true }
}

async function currentDigest(store: AgentStore, slug: string): Promise<string | undefined> {
  const organizationId = DEVELOPMENT_ORGANIZATION.id
  const published = await store.get({ organizationId, id: agentIdOf(organizationId, slug) })
  return published?.current?.digest
}

/** Nothing when there is no such file, or none that can be read: then every agent is looked at. */
async function recall(memory: string): Promise<Record<string, Known>> {
  try {
    return JSON.parse(await readFile(memory, 'utf8'))
  } catch {
    return {}
  }
}
