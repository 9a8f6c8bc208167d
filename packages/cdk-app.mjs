/** The service as a CDK app. Settings: `--context name=value`, or further members of `settings`. */

import { readSettings, ServiceStack } from 'agent-execution-service/cdk'
import { App } from 'aws-cdk-lib'

const app = new App()
const settings = readSettings(app.node)
new ServiceStack(app, settings.stackName, { settings })
