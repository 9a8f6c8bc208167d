import { sha256 } from '../../core/hash-json.ts'
import type { AgentDocument } from '../document/document.ts'

/** SHA-256, hexadecimal. `digest` is of both: versions of an agent with equal digests behave the same. */
export type ContentHashes = { digest: string; documentHash: string; codeHash?: string }

export const toContentHashes = (document: AgentDocument, code: string | null): ContentHashes => ({
  digest: sha256(JSON.stringify([document, code])),
  documentHash: sha256(JSON.stringify(document)),
  ...(code !== null && { codeHash: sha256(code) }),
})
