#!/usr/bin/env node
// Sends a message of the person who is signed in at an instance of edna.chatcenter, and ends.
//
//     ./edna-message.mjs front-desk DEVICE TEXT
//
// DEVICE is the id of this program's device at edna: a random text that you choose once and keep.
import { connect } from 'sdkd';
import { openChat } from './edna-chat.mjs';

const [instance, deviceUid, text] = process.argv.slice(2);
if (!text) {
  console.error('usage: edna-message.mjs INSTANCE DEVICE TEXT');
  process.exit(64);
}
let daemon;
let chat;
try {
  daemon = await connect();
  chat = await openChat(daemon, instance, deviceUid);
  const { status } = await chat.say(text);
  console.log(status);
} catch (error) {
  console.error(error.message);
  process.exitCode = 1;
} finally {
  chat?.close();
  daemon?.close();
}
