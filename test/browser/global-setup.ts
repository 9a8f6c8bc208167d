import type { TestProject } from 'vitest/node'
import { type DemoAddress, startDemo } from './demo/start-demo.ts'
import { launchServer } from './support/launch.ts'

declare module 'vitest' {
  export interface ProvidedContext {
    /** The demo that all files share. Its service and database are `service` and `dynamodb`, too. */
    demo: DemoAddress
    /** WebSocket endpoint of the browser that all files share. */
    browser: string
  }
}

export default async function setup(project: TestProject) {
  const [demo, browser] = await Promise.all([startDemo(), launchServer()])
  const { url, token, tools, dynamodb } = demo
  project.provide('demo', { url, token, tools, dynamodb })
  project.provide('service', url)
  project.provide('dynamodb', dynamodb)
  project.provide('browser', browser.wsEndpoint())
  return async () => {
    await browser.close()
    await demo.stop()
  }
}
