import { newOrganization, type TestOrganization } from '../engine/organization.ts'

/** A new organization on the shared service, with agents of `test/fixtures/agents` or `agents`. */
export async function organizationWith(...slugs: string[]): Promise<TestOrganization> {
  const organization = await newOrganization()
  for (const slug of slugs) await organization.publish(slug)
  return organization
}
