import { readdirSync } from 'node:fs'
import { inject } from 'vitest'
import { newOrganization } from '../../support/engine/organization.ts'
import { connectDemo, type Demo, publishAgents } from './start-demo.ts'

/** The demo in an organization of its own, for a file that changes its agents or counts its runs. */
export async function newDemo(): Promise<Demo> {
  const { token, publish } = await newOrganization()
  // A service has these when it starts, in the organization of the development token.
  for (const slug of readdirSync('agents')) await publish(slug)
  return publishAgents(connectDemo({ ...inject('demo'), token }))
}
